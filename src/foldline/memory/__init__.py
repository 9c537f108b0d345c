"""
What agents remember between conversations, and the documents that they know.

    from foldline.memory import Knowledge, Memory
    memory = Memory.open("memory.db", user="ann")
    knowledge = Knowledge.open("knowledge.db")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.memory.forgetting import Forgotten
    from foldline.memory.items import Added, Found, Item, Kind
    from foldline.memory.knowledge import Knowledge
    from foldline.memory.limits import MemoryLimits
    from foldline.memory.memory import Memory

_HOMES = {
    "Added": "items",
    "Forgotten": "forgetting",
    "Found": "items",
    "Item": "items",
    "Kind": "items",
    "Knowledge": "knowledge",
    "Memory": "memory",
    "MemoryLimits": "limits",
}

__all__ = ["Added", "Forgotten", "Found", "Item", "Kind", "Knowledge", "Memory", "MemoryLimits"]


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'foldline.memory' has no attribute {name!r}")
    return getattr(import_module(f"foldline.memory.{home}"), name)


def __dir__() -> list[str]:
    return list(__all__)
