"""A mapping from names to objects whose modules are imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class OnDemand(Mapping[str, Made], Generic[Made]):
    """
    Make objects as they are looked up, each once.

    Args:
        classes: The module and the class by name; the order is kept.
    """

    def __init__(self, classes: Mapping[str, tuple[str, str]]) -> None:
        self._classes = classes
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            module, class_name = self._classes[name]
            made: Any = getattr(import_module(module), class_name)()
            self._made[name] = made
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)
