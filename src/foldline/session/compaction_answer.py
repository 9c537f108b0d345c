"""The result of a compaction that the model requested, written into the result of its call."""

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
"""The result of the call as recorded; a successful compaction replaces it."""

KIND: Final = "answer"

PASSES: Final = 2
"""The text contains a token count that it changes itself; the second pass makes it right."""


def add_answer(before: View, outcome: Outcome) -> Outcome:
    """
    Write into the result of the model's call how much smaller the conversation became.

    The result was recorded before the compaction, and says only that it was requested. The outcome
    is unchanged if the result is not in view, or if the new text would take more tokens.

    Args:
        before: The view before the compaction.
        outcome: The outcome of the compaction.
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
    """Return a note on a compaction, in tokens before and after; shorter than `REQUESTED`."""
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
