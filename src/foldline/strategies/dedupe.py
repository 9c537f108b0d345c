"""Dedupe: clear results that a later call with the same tool and arguments superseded."""

from __future__ import annotations

import re
from typing import ClassVar

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext, Plan
from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.snapshot.invocations import signature
from foldline.strategies.stubs import clear
from foldline.values.edits import Edit
from foldline.values.messages import ToolCall, ToolResult
from foldline.values.view import View

_READING = lazy_pattern(
    "read|view|cat|open|show|list|glob|grep|search|find|fetch|get|^ls$", re.IGNORECASE
)


@frozen
class Dedupe:
    """Clear superseded reads; the newest result of the same call always stays."""

    name: ClassVar[str] = "dedupe"

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """
        Clear every result whose call was repeated later with the same arguments.

        A call that does more than read may act each time: its result is cleared only where the
        newer one is equal.
        """
        yield from ()
        newest: dict[tuple[str, str], ToolResult] = {}
        stale: list[tuple[int, int]] = []
        for call_site, result_site in reversed(view.pairing.answers.items()):
            call = view.messages[call_site.message].parts[call_site.part]
            result = view.messages[result_site.message].parts[result_site.part]
            if not isinstance(call, ToolCall) or not isinstance(result, ToolResult):
                continue
            latest = newest.setdefault(signature(call), result)
            if latest is not result and (is_read(call) or latest.text == result.text):
                stale.append((result_site.message, result_site.part))
        edits: list[Edit] = []
        for index, part in reversed(stale):
            if index not in view.protected:
                edit = clear(view, context, index, part, "dedupe", "read again later")
                if edit:
                    edits.append(edit)
        return Plan(tuple(edits), "" if edits else "no result was read again")


def is_read(call: ToolCall) -> bool:
    """Return True if the name of a tool says that it only reads."""
    return _READING.search(call.name) is not None
