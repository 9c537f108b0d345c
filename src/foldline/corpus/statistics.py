"""Statistics of a session: the size of its conversations, and where their tokens go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from foldline.api import counter_for
from foldline.corpus.operation import Row, Totals, Work, add_up, each_conversation
from foldline.evaluation.breakdown import KINDS, by_kind, waste
from foldline.formats.recording import RecordedConversation
from foldline.frozen import frozen
from foldline.values.messages import ToolCall, ToolResult

_KINDS: Final = {kind: f"{kind.replace(' ', '_')}_tokens" for kind in KINDS}
_COUNTS: Final = ("messages", "user_messages", "tool_calls", "tool_errors")
_TOKENS: Final = ("tokens", "prompt_tokens", "schema_tokens", "waste_tokens", *_KINDS.values())


@frozen
class Scan:
    """
    Count messages, calls and tokens of every conversation.

    ``prompt_tokens`` and ``schema_tokens`` are sent in addition to the messages;
    ``waste_tokens`` are duplicate or superseded.

    Args:
        model: The model to count tokens for.
    """

    model: str | None = None

    name: ClassVar[str] = "scan"
    order: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, str]] = {
        "format": "text",
        "counter": "text",
        **dict.fromkeys((*_COUNTS, *_TOKENS), "int"),
    }

    def start(self) -> Work:
        """Return a function that makes a row per conversation."""
        return lambda recording: each_conversation(recording, lambda one: [self._row(one)])

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up counts and tokens."""
        return add_up(rows, *_COUNTS, *_TOKENS)

    def _row(self, conversation: RecordedConversation) -> Row:
        transcript = conversation.transcript
        messages, counter = transcript.messages, counter_for(transcript, self.model)
        parts = [part for message in messages for part in message.parts]
        kinds = {share.name: share.tokens for share in by_kind(messages, counter)}
        return {
            "counter": counter.name,
            "messages": len(messages),
            "user_messages": sum(message.role == "user" for message in messages),
            "tool_calls": sum(isinstance(part, ToolCall) for part in parts),
            "tool_errors": sum(isinstance(part, ToolResult) and part.is_error for part in parts),
            "tokens": counter.messages(messages),
            "prompt_tokens": counter.overhead(transcript.system, ()),
            "schema_tokens": counter.overhead("", transcript.tools),
            "waste_tokens": sum(share.tokens for share in waste(messages, counter)),
            **{column: kinds.get(kind, 0) for kind, column in _KINDS.items()},
        }
