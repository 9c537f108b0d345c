"""Public names of a package, loaded when they are first used: importing it stays cheap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return what a package takes as its ``__getattr__`` and ``__dir__``.

    Args:
        package: Its name.
        homes: The module below it that holds a public name, by that name; a dot in front leads
            to a module beside the package.
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{home}", package), name)

    def names() -> list[str]:
        return list(homes)

    return load, names
