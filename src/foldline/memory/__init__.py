"""
What agents remember between conversations, and the documents that they know.

    from foldline.memory import Knowledge, Memory
    memory = Memory.open("memory.db", user="ann")
    knowledge = Knowledge.open("knowledge.db")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.memory.item_rows import Forgotten
    from foldline.memory.items import Added, FoundMemory, Kind, MemoryItem, MemoryLimits
    from foldline.memory.knowledge import Knowledge
    from foldline.memory.memory import Memory

_HOMES = {
    "Added": "items",
    "Forgotten": "item_rows",
    "FoundMemory": "items",
    "Kind": "items",
    "Knowledge": "knowledge",
    "Memory": "memory",
    "MemoryItem": "items",
    "MemoryLimits": "items",
}

__all__ = [
    "Added",
    "Forgotten",
    "FoundMemory",
    "Kind",
    "Knowledge",
    "Memory",
    "MemoryItem",
    "MemoryLimits",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
