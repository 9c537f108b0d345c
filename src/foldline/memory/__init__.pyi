"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.memory.item_rows import Forgotten as Forgotten
from foldline.memory.items import Added as Added
from foldline.memory.items import FoundMemory as FoundMemory
from foldline.memory.items import Kind as Kind
from foldline.memory.items import MemoryItem as MemoryItem
from foldline.memory.items import MemoryLimits as MemoryLimits
from foldline.memory.knowledge import Knowledge as Knowledge
from foldline.memory.memory import Memory as Memory

__all__: list[str]
