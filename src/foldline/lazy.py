"""
What is made on first use, so that importing Foldline stays cheap: patterns, public names, data.

A package lists its public names once, as imports in its ``__init__.pyi``: type checkers read that
file, and so does the package when it runs. The library `lazy-loader` works like this; importing
Foldline loads no package of others.
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
    Return a pattern whose methods work as those of a compiled one.

    It is no `re.Pattern` by its type, so it is not given to the functions of `re`.

    Args:
        source: The regular expression.
        flags: Of `re`, such as ``re.VERBOSE``.

    Raises:
        re.error: At the first use, where the expression is not valid.
    """
    return cast("re.Pattern[str]", _LazyPattern(source, flags))


class _LazyPattern:
    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        """Take over an attribute of the compiled pattern, so that the next use finds it here."""
        if name.startswith("_"):  # what copying and pickling look for
            raise AttributeError(name)
        value = getattr(re.compile(self._source, self._flags), name)
        setattr(self, name, value)
        return value


_IMPORT: Final = lazy_pattern(r"^from (\S+) import \(?\s*\w+ as (\w+)", re.MULTILINE)
"""One import of a stub: the module, and the name."""


def attach_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return the ``__getattr__`` and ``__dir__`` of a package whose stub imports its public names.

    ``__all__`` is found like the other names, so nothing is read before the first of them is used.

    Args:
        package: Its name.
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
