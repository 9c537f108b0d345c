"""
Objects created on first use, so that importing Foldline stays cheap: patterns, public names, data.

A package lists its public names once, as imports in its ``__init__.pyi``: type checkers read that
file, and so does the package at run time. The library `lazy-loader` works like this; importing
Foldline loads no third-party package.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from operator import itemgetter
from typing import Any, Final, cast


def lazy_pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """
    Return a pattern that is compiled on first use and has the methods of a compiled one.

    Its type is not `re.Pattern`, so the functions of `re` do not accept it.

    Args:
        source: The regular expression.
        flags: Flags of `re`, such as ``re.VERBOSE``.

    Raises:
        re.error: On first use, if the expression is invalid.
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Cache an attribute of the compiled pattern on this object."""
        if name.startswith("_"):  # looked up by copying and pickling
            raise AttributeError(name)
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


_IMPORT: Final = lazy_pattern(r"^from (\S+) import \(?\s*\w+ as (\w+)", re.MULTILINE)
"""One import of a stub: the module, and the name."""


def attach_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return the ``__getattr__`` and ``__dir__`` of a package whose stub imports its public names.

    ``__all__`` is resolved like the other names, so nothing is read before the first use.

    Args:
        package: The name of the package.
    """
    exports = cache(partial(_exports, package))

    def load(name: str) -> Any:
        if name == "__all__":
            return names()
        module = exports().get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module), name)

    def names() -> list[str]:
        return list(exports())

    return load, names


def _exports(package: str) -> dict[str, str]:
    """Map each name that the stub of a package imports to the module it comes from, sorted."""
    stub = read_data(package, "__init__.pyi").decode()
    return {name: module for module, name in sorted(_IMPORT.findall(stub), key=itemgetter(1))}


def read_data(package: str, name: str) -> bytes:
    """
    Return a file of a package, as `pkgutil.get_data` does, without all that it imports.

    Raises:
        OSError: There is no such file.
    """
    module: Any = import_module(package)
    data: bytes = module.__spec__.loader.get_data(f"{module.__path__[0]}/{name}")
    return data
