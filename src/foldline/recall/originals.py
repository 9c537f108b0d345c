"""What a handle names: a part, a message, a step, or everything that a snapshot stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from foldline.errors import RecallError
from foldline.recall.holdings import Holdings, ResolvedHandle
from foldline.recall.sections import (
    MessageSection,
    cut_sections,
    message_text,
    part_of,
    part_raw,
    part_text,
    step_of,
)
from foldline.values.handles import Handles, Register
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message


@dataclass(frozen=True, slots=True)
class Original:
    """
    What a handle names.

    Args:
        role: Who said it, or "snapshot".
        raw: The wire original; of a snapshot the list of those of its messages.
        messages: What is recalled, in order.
        handles: Handles by id.
        part: The position of the part that alone is meant.
        beside: Messages that a search looks through too.
    """

    role: str
    raw: Any = field(repr=False)
    messages: tuple[Message, ...]
    handles: Mapping[str, str] = field(repr=False)
    part: int | None = None
    beside: frozenset[str] = frozenset()

    @property
    def is_exact(self) -> bool:
        """Whether its text is that of one message or part, with nothing added."""
        return self.role != "snapshot" and len(self.messages) == 1

    def text(self) -> str:
        """Return all that it says; several messages each under its handle and role."""
        if self.part is not None:
            return part_text(self.messages[0].parts[self.part])
        if self.is_exact:
            return message_text(self.messages[0])
        return "\n\n".join(
            f"[{self.handles[m.id]} {m.role}]\n{message_text(m)}" for m in self.messages
        )

    def sections(self, holdings: Holdings) -> list[MessageSection]:
        """Return all that a search looks through, headed unless it is one text."""
        if self.part is not None:
            whole = self.messages[0]
            alone = Message(whole.role, (whole.parts[self.part],), id=whole.id)
            return cut_sections([alone], {whole.id: f"{self.handles[whole.id]}.{self.part}"})
        if not self.beside:
            return cut_sections(self.messages, self.handles)
        wanted = self.beside | {message.id for message in self.messages}
        found = [holdings.messages[number] for number in holdings.in_order(set(wanted))]
        return cut_sections(found, self.handles)

    def others(self, holdings: Holdings) -> Iterator[MessageSection]:
        """Yield everything else that was said, a message at a time, the newest first."""
        here = self.beside | {message.id for message in self.messages}
        for number in reversed([one for one in holdings.messages if one not in here]):
            yield from cut_sections([holdings.messages[number]], self.handles)


def find_original(holdings: Holdings, named: ResolvedHandle) -> Original:
    """
    Find what a handle names.

    Raises:
        RecallError: The message has fewer parts, or a snapshot is asked for a part.
    """
    handles = Handles(Register(holdings.messages))
    message = holdings.messages.get(named.id)
    if message is None:
        return _snapshot(holdings, named, handles)
    if named.part is None:
        step = step_of(holdings.messages, message)
        return Original(message.role, message.raw, step, handles)
    part_of(message, named.part)
    raw = part_raw(message, named.part)
    return Original(message.role, raw, (message,), handles, named.part)


def _snapshot(holdings: Holdings, named: ResolvedHandle, handles: Mapping[str, str]) -> Original:
    if named.part is not None:
        raise RecallError(
            f"{named.id[:HANDLE_LENGTH]} is a snapshot, which has no parts.",
            hint="Leave out what follows the dot.",
        )
    messages = tuple(holdings.messages[number] for number in holdings.folded(named.id))
    raw = [message.raw for message in messages]
    return Original("snapshot", raw, messages, handles, beside=holdings.shortened)
