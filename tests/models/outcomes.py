"""The outcomes of reading an answer of any shape: a completion, or one typed error."""

from __future__ import annotations

import json
from collections.abc import Callable

from foldline.errors import ModelError
from foldline.models.completion import Completion
from foldline.type_checks import check_fields


def check_outcome(read: Callable[[], Completion]) -> None:
    """
    Check that an answer is read with the declared types, or rejected with a reason.

    Args:
        read: Reads the answer.
    """
    found = _outcome(read)
    if isinstance(found, ModelError):
        assert found.message
        assert isinstance(found.code, str)
        return
    for record in (found, *found.calls, *([found.usage] if found.usage else [])):
        check_fields(record)
    assert not (found.calls and found.stop in ("end", "unknown"))
    json.dumps(found.messages)


def _outcome(read: Callable[[], Completion]) -> Completion | ModelError:
    try:
        return read()
    except ModelError as error:
        return error
