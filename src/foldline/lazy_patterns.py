"""Regular expressions that are compiled when they are first used: importing them stays cheap."""

from __future__ import annotations

import re
from typing import Any, cast


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
