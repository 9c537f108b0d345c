"""
Language models: what is known about them, and clients that ask them.

    from foldline.models import model

    with model("anthropic:claude-haiku-4-5") as haiku:
        answer = haiku.complete([{"role": "user", "content": "Hello"}])

Nothing of the network is loaded before the first client is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.models.catalogue import Catalogue
    from foldline.models.choosing import light, summarizer
    from foldline.models.client import Client
    from foldline.models.completion import Completion, Delta
    from foldline.models.failures import TooLong
    from foldline.models.info import CacheRules, ModelInfo, Prices, price
    from foldline.models.opening import model

_HOMES = {
    "CacheRules": "info",
    "Catalogue": "catalogue",
    "Client": "client",
    "Completion": "completion",
    "Delta": "completion",
    "ModelInfo": "info",
    "Prices": "info",
    "TooLong": "failures",
    "light": "choosing",
    "model": "opening",
    "price": "info",
    "summarizer": "choosing",
}

__all__ = [
    "CacheRules",
    "Catalogue",
    "Client",
    "Completion",
    "Delta",
    "ModelInfo",
    "Prices",
    "TooLong",
    "light",
    "model",
    "price",
    "summarizer",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the catalogue needs no network library."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'foldline.models' has no attribute {name!r}")
    return getattr(import_module(f"foldline.models.{home}"), name)


def __dir__() -> list[str]:
    return list(__all__)
