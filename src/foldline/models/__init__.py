"""
Language models: what is known about them, and clients that ask them.

    from foldline.models import model

    with model("anthropic:claude-haiku-4-5") as haiku:
        answer = haiku.complete([{"role": "user", "content": "Hello"}])

Nothing of the network is loaded before the first client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.models.catalogue import Catalogue
    from foldline.models.choice import light
    from foldline.models.client import Client
    from foldline.models.completion import Completion, Delta
    from foldline.models.errors import TooLong
    from foldline.models.factory import model, summarizer
    from foldline.models.info import CacheRules, ModelInfo, Prices, price

_HOMES = {
    "CacheRules": "info",
    "Catalogue": "catalogue",
    "Client": "client",
    "Completion": "completion",
    "Delta": "completion",
    "ModelInfo": "info",
    "Prices": "info",
    "TooLong": "errors",
    "light": "choice",
    "model": "factory",
    "price": "info",
    "summarizer": "factory",
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


__getattr__, __dir__ = lazily(__name__, _HOMES)
