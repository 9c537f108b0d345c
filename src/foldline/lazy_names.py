"""Public names of a package, loaded when they are first used: importing it stays cheap."""

from __future__ import annotations

import ast
import sys
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


def export_lazily(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """
    Return what a package takes as its ``__getattr__``, ``__dir__`` and ``__all__``.

    Its public names stand once, as the imports under ``if TYPE_CHECKING`` in its own source: type
    checkers follow them, and they are carried out here one by one, when a name is used.

    Args:
        package: Its name.
    """
    loader: Any = sys.modules[package].__loader__
    tree = ast.parse(loader.get_source(package))
    checked = (part for part in tree.body if isinstance(part, ast.If))
    homes = {
        name.name: line.module or ""
        for part in checked
        for line in part.body
        if isinstance(line, ast.ImportFrom)
        for name in line.names
    }

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    names = sorted(homes)
    return load, lambda: list(names), names
