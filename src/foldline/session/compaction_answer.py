"""The result of a compaction that the model requested, written where it reads it."""

from __future__ import annotations

from typing import Final

from foldline.core.strategy import Outcome
from foldline.frozen import replace
from foldline.values.edits import Rewrite
from foldline.values.messages import ToolResult
from foldline.values.view import View

REQUESTED: Final = (
    "Compaction requested. It is made before you read this: as far as anything could be made "
    "smaller, older messages now stand in a snapshot above, and otherwise nothing has changed."
)
"""The result of the call as it is recorded; a compaction that was made replaces it."""

KIND: Final = "answer"

PASSES: Final = 2
"""The words hold a figure that they change themselves; the second time it is right."""


def with_answer(before: View, outcome: Outcome) -> Outcome:
    """
    Say in the result of the model's call how much smaller the conversation became.

    The result was recorded before the compaction was made, and said only that it was requested. It
    is not touched where it is not there, or where the words would not fit.

    Args:
        before: The view that was compacted.
        outcome: What became of it.
    """
    if outcome.status != "compacted":
        return outcome
    view = outcome.view
    edits: tuple[Rewrite, ...] = ()
    for _ in range(PASSES):
        edits = _answers(outcome.view, _compacted_note(before.tokens, view.tokens))
        view = outcome.view.after(edits)
    if view.tokens > outcome.view.tokens:
        return outcome
    return replace(outcome, view=view, edits=(*outcome.edits, *edits))


def _compacted_note(before: int, after: int) -> str:
    """Return what a compaction did, in tokens before and after it; shorter than `REQUESTED`."""
    return (
        f"Compacted before you read this: {before:,} → {after:,} tokens. Older messages now stand "
        "in a snapshot above."
    )


def _answers(view: View, words: str) -> tuple[Rewrite, ...]:
    return tuple(
        Rewrite(message.id, position, part.text.replace(REQUESTED, words), KIND, keep_media=True)
        for index, message in enumerate(view.messages)
        if view.protected.get(index) == "unread"
        for position, part in enumerate(message.parts)
        if isinstance(part, ToolResult) and REQUESTED in part.text
    )
