"""Everything that can be recalled: a log with its snapshots, and the resolution of handles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from foldline.errors import RecallError
from foldline.frozen import field, frozen
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


@frozen
class Folded:
    """The ids of the messages that a snapshot folds, and the length of the log at the time."""

    messages: tuple[str, ...]
    at: int


@frozen
class Holdings:
    """
    Everything that can be recalled.

    Args:
        messages: The log by id, in order.
        snapshots: The messages that each snapshot folds, by its id, former snapshots included.
        moments: The lengths of the log when handles were issued.
        shortened: Ids of messages that are or were in view with a part cut or cleared.
    """

    messages: Mapping[str, Message]
    snapshots: Mapping[str, Folded] = field(default_factory=dict)
    moments: tuple[int, ...] = ()
    shortened: frozenset[str] = frozenset()

    def first_seen(self, prefix: str = "") -> dict[str, int]:
        """
        Return the length of the log when each message or snapshot was added, by id.

        Args:
            prefix: Only ids that begin with this.
        """
        log = enumerate(self.messages, 1)
        seen = {number: index for index, number in log if number.startswith(prefix)}
        folds = self.snapshots.items()
        return seen | {n: folded.at for n, folded in folds if n.startswith(prefix)}

    def folded(self, number: str) -> list[str]:
        """Return the messages that a snapshot folds, those of nested snapshots included."""
        out: set[str] = set()
        waiting, seen = [number], set()
        while waiting:
            current = waiting.pop()
            if current in self.messages:
                out.add(current)
            elif current not in seen:
                seen.add(current)
                fold = self.snapshots.get(current)
                waiting += fold.messages if fold else ()
        return self.in_order(out)

    def in_order(self, numbers: set[str]) -> list[str]:
        """Return ids in the order of the log."""
        return [number for number in self.messages if number in numbers]


_HANDLE: Final = re.compile(rf"([0-9a-f]{{{HANDLE_LENGTH},32}})(?:\.([0-9]{{1,6}}))?")

_AROUND: Final = " \t\n[]()<>#`'\""
"""What may be copied along with a handle."""

NEAR: Final = 5
"""Number of similar handles in an error."""


@frozen
class ResolvedHandle:
    """An id, and the position of a part if the handle has one."""

    id: str
    part: int | None = None


def parse(handle: str) -> tuple[str, int | None]:
    """
    Split a handle into the beginning of an id and the position of a part.

    Raises:
        RecallError: The text is not a handle.
    """
    found = _HANDLE.fullmatch(handle.strip(_AROUND).lower()) if isinstance(handle, str) else None
    if found is None:
        raise RecallError(
            f"{str(handle)[:60]!r} is not a handle.",
            hint=f"A handle is {HANDLE_LENGTH} or more hexadecimal digits, such as 1f0c2a9b or "
            "1f0c2a9b.2; receipts and stubs name them.",
        )
    return found[1], None if found[2] is None else int(found[2])


def resolve(
    handle: str, first_seen: Mapping[str, int], moments: Iterable[int] = ()
) -> ResolvedHandle:
    """
    Resolve a handle to an id.

    Args:
        handle: The beginning of an id, with ``.part`` for one of its parts.
        first_seen: The length of the log when each id was added; see `Holdings.first_seen`.
        moments: The lengths of the log when handles were issued. A handle that was unique
            then keeps its meaning, whatever was added since.

    Raises:
        RecallError: No id matches, or several do; the message lists similar handles.
    """
    prefix, part = parse(handle)
    found = sorted((n for n in first_seen if n.startswith(prefix)), key=first_seen.__getitem__)
    if not found:
        raise RecallError(f"Nothing is kept under {prefix}.", hint=_near(prefix, list(first_seen)))
    if len(found) > 1:
        first, second = first_seen[found[0]], first_seen[found[1]]
        if not any(first <= moment < second for moment in moments):
            matches = ", ".join(number[: len(prefix) + 8] for number in found[:NEAR])
            raise RecallError(
                f"{prefix} is ambiguous: {len(found)} messages begin so.",
                hint=f"Give more digits: {matches}.",
            )
    return ResolvedHandle(found[0], part)


def _near(prefix: str, ids: Sequence[str]) -> str:
    short = {number[:HANDLE_LENGTH] for number in ids}
    close = get_close_matches(prefix[:HANDLE_LENGTH], short, NEAR, 0.5)
    if close:
        return f"Near to it: {', '.join(close)}."
    newest = [number[:HANDLE_LENGTH] for number in ids[-NEAR:]]
    return f"The newest are: {', '.join(newest)}." if newest else "Nothing is kept here."


@frozen
class Original:
    """
    The content of a handle.

    Args:
        role: The role of the message, or "snapshot".
        raw: The wire original; for a snapshot, the list of those of its messages.
        messages: The recalled messages, in order.
        handles: Handles by id.
        part: The position of the part, if only that is recalled.
        beside: Ids of further messages that a search includes.
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
        """Return the whole text; each of several messages is under its handle and role."""
        if self.part is not None:
            return part_text(self.messages[0].parts[self.part])
        if self.is_exact:
            return message_text(self.messages[0])
        return "\n\n".join(
            f"[{self.handles[m.id]} {m.role}]\n{message_text(m)}" for m in self.messages
        )

    def sections(self, holdings: Holdings) -> list[MessageSection]:
        """Return the sections that a search includes."""
        if self.part is not None:
            whole = self.messages[0]
            alone = Message(whole.role, (whole.parts[self.part],), id=whole.id)
            return cut_sections([alone], {whole.id: f"{self.handles[whole.id]}.{self.part}"})
        if not self.beside:
            return cut_sections(self.messages, self.handles)
        ids = self.beside | {message.id for message in self.messages}
        found = [holdings.messages[number] for number in holdings.in_order(set(ids))]
        return cut_sections(found, self.handles)

    def others(self, holdings: Holdings) -> Iterator[MessageSection]:
        """Yield the sections of all other messages of the log, newest message first."""
        here = self.beside | {message.id for message in self.messages}
        for number in reversed([one for one in holdings.messages if one not in here]):
            yield from cut_sections([holdings.messages[number]], self.handles)


def find_original(holdings: Holdings, named: ResolvedHandle) -> Original:
    """
    Return the content of a resolved handle.

    Raises:
        RecallError: The message has fewer parts, or the handle is a part of a snapshot.
    """
    handles = Handles(Register(holdings.messages))
    message = holdings.messages.get(named.id)
    if message is None:
        if named.part is not None:
            raise RecallError(
                f"{named.id[:HANDLE_LENGTH]} is a snapshot, which has no parts.",
                hint="Leave out what follows the dot.",
            )
        messages = tuple(holdings.messages[number] for number in holdings.folded(named.id))
        raw = [message.raw for message in messages]
        return Original("snapshot", raw, messages, handles, beside=holdings.shortened)
    if named.part is None:
        return Original(message.role, message.raw, step_of(holdings.messages, message), handles)
    part_of(message, named.part)
    return Original(message.role, part_raw(message, named.part), (message,), handles, named.part)
