"""Bound: limit the size of a tool output when it is recorded; a handle recalls the whole text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.core.retention_settings import Outputs
from foldline.outputs.verdict import failing_note
from foldline.strategies.observation import Side, truncate_observation
from foldline.values.edits import Rewrite
from foldline.values.handles import part_handle
from foldline.values.messages import Message, ToolResult
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from foldline.snapshot.excerpt import Style


def bound(
    message: Message, counter: TokenCounter, *, handle: str, outputs: Outputs
) -> tuple[Rewrite, ...]:
    """
    Limit the size of the tool outputs of a message that is being recorded.

    Args:
        message: The message.
        counter: The token counter.
        handle: The message's handle.
        outputs: How large an output may be, and which part of it to keep.

    Returns:
        One edit for each output that is too long.
    """
    edits = []
    for index, part in enumerate(message.parts):
        if not isinstance(part, ToolResult):
            continue
        tokens = counter.text(part.text)
        if outputs.is_exceeded(part.text, tokens):
            name = part_handle(handle, message, index)
            text = part.text
            if tokens > outputs.hard:
                from foldline.snapshot.excerpt import excerpt  # only giant outputs need it

                text = excerpt(text, outputs.soft, counter, handle=name, style=outputs.style)
            text = _within_lines(text, outputs, name)
            edits.append(Rewrite(message.id, index, text, "truncate", name, keep_media=True))
    return tuple(edits)


def _within_lines(text: str, outputs: Outputs, handle: str) -> str:
    """Remove lines until a text is within its limits of lines and bytes."""
    sides: dict[Style, Side] = {"head": "head", "tail": "tail"}

    def render(note: str) -> str:
        return truncate_observation(
            text,
            max_lines=outputs.lines,
            max_bytes=outputs.bytes,
            keep=sides.get(outputs.style, "head_tail"),
            note=f"{note}recall {handle}",
        ).text

    rendered = render("")
    hides = rendered != text and failing_note(text, rendered.split("\n"))
    return render("with failures; ") if hides else rendered
