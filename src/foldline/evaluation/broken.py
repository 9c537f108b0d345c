"""Which promise a compaction breaks, if any: the checks of `foldline.testing`, as a sentence."""

from __future__ import annotations

from typing import Any

from foldline.api import Compaction
from foldline.testing import check_transcript
from foldline.values.tokens import TokenCounter

LONGEST = 300
"""Characters of a sentence."""


def broken_promise(result: Compaction[Any], counter: TokenCounter) -> str:
    """
    Check a compaction of a recorded session.

    Args:
        result: What `foldline.api.compact_transcript` returned.
        counter: What counted.

    Returns:
        The sentence that names the promise and where it is broken; "" where all hold.
    """
    try:
        check_transcript(result, counter)
    except AssertionError as error:
        return str(error)[:LONGEST] or "a promise is broken"
    return ""
