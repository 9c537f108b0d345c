"""The log of a session: every appended message, and its position."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, islice
from threading import Lock
from typing import Final, TypeAlias, overload

from foldline.frozen import frozen, replace
from foldline.session.damage import reading
from foldline.stores.protocol import FindableIds, StoredMessage, StoredSession
from foldline.values.edits import Edit, Move, apply_by_id
from foldline.values.handles import Register
from foldline.values.messages import Message

EAGER_IDS: Final = 20_000
"""Maximum number of ids that are read when a session is opened; of a longer log, on demand."""


class Positions(Mapping[str, int]):
    """
    The position of every message by its id, in order.

    It may be read in one thread while another one adds to it.

    Args:
        name: Name of the session.
        ids: The stored ids.
    """

    def __init__(self, name: str, ids: Sequence[str]) -> None:
        self._name = name
        self._ids = ids
        self._stored = ids if isinstance(ids, FindableIds) and len(ids) > EAGER_IDS else None
        self._size = len(ids)
        self._known: dict[str, int] = {}
        self._adding = Lock()
        if self._stored is None:
            self._read()

    def _read(self) -> dict[str, int]:
        """Return all positions by id."""
        with self._adding, reading(self._name):
            early = list(self._ids)
            known = {number: position for position, number in enumerate(early)}
            if len(known) != len(early):
                raise ValueError("two messages have the same id")
            self._known = known | self._known
            self._stored, self._ids = None, ()
        return self._known

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[str]:
        return iter(self._known if self._stored is None else self._read())

    def __getitem__(self, number: str) -> int:
        stored = self._stored  # read first: once it is None, all ids are known
        found = self._known.get(number)
        if found is None and stored is not None:
            with reading(self._name):
                found = stored.find(number)
            if found is not None:
                self.note(number, found)
        if found is None:
            raise KeyError(number)
        return found

    def __contains__(self, number: object) -> bool:
        return number in self._known or (isinstance(number, str) and self.get(number) is not None)

    def since(self, start: int) -> Iterator[str]:
        """Yield the ids from a position on, in order."""
        ids = self._ids  # read first: they are dropped when all ids are known
        if self._stored is None:
            return islice(self, start, None)
        size = len(ids)
        with self._adding:
            late = [number for number, position in self._known.items() if position >= size]
        early = ids[start:] if start < size else ()
        return iter([*early, *late[max(0, start - size) :]])

    def note(self, number: str, position: int) -> None:
        """Cache the position of a message that was read."""
        with self._adding:
            if self._stored is not None:
                self._known.setdefault(number, position)

    def add(self, number: str) -> None:
        """Add the id of a new message."""
        with self._adding:
            self._known[number] = self._size
            self._size += 1


RELEASED_AT_ONCE: Final = 32
"""Number of messages released from memory at each append."""

LATELY: Final = 64
"""Number of newest messages that stay in memory, in view or not."""

SPARE: Final = 5_000
"""Number of messages out of view that are kept in memory before any are released."""

PAGE: Final = 500
"""Number of messages read at once when the whole log is."""


class Log(Sequence[Message]):
    """
    The messages of a session.

    It may be read in one thread while another one appends.

    Args:
        stored: The session as loaded from the store.
        read: Reads a stored message.
        load: Loads the session again, in its current state.
    """

    def __init__(
        self,
        stored: StoredSession,
        read: Callable[[StoredMessage], Message],
        load: Callable[[], StoredSession],
    ) -> None:
        self.name = stored.head.name
        self.positions = Positions(self.name, stored.ids)
        self._stored: Sequence[StoredMessage] = stored.messages
        self._read = read
        self._load = load
        self._kept: dict[int, Message] = {}
        self._whole = False
        self._leaving: list[int] = []

    # --- as a sequence ---------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return list(self.at(positions))
        return next(self.at((positions,)))

    def __iter__(self) -> Iterator[Message]:
        return self.at(range(len(self)))

    def at(self, positions: Sequence[int]) -> Iterator[Message]:
        """Yield the messages at some positions, given in order; runs are read together."""
        start = 0
        while start < len(positions):
            run = positions[start : start + PAGE]
            missing = [position for position in run if position not in self._kept]
            found = dict(self._fetch(missing))
            for position in run:
                message = found.get(position) or self._kept.get(position)
                # Another thread may just have released it.
                yield message or dict(self._fetch([position]))[position]
            start += PAGE

    def _fetch(self, positions: Sequence[int]) -> Iterator[tuple[int, Message]]:
        """Read messages from the store."""
        if positions and positions[-1] >= len(self._stored):
            self._stored = self._load().messages
        stored = self._stored
        for _, pairs in groupby(enumerate(positions), lambda pair: pair[1] - pair[0]):
            run = [position for _, position in pairs]
            with reading(self.name):
                messages = [
                    replace(self._read(item), id=item.id, pinned=item.pinned, usage=item.usage)
                    for item in stored[run[0] : run[-1] + 1]
                ]
            for position, message in zip(run, messages, strict=False):
                self.positions.note(message.id, position)
                yield position, message

    # --- by id -----------------------------------------------------------------------------

    @cached_property
    def originals(self) -> Mapping[str, Message]:
        """The messages by id, in order."""
        return _Originals(self)

    @cached_property
    def register(self) -> Register:
        """The ids in order of their digits; built on first use."""
        return Register(self.positions)

    # --- changes ---------------------------------------------------------------------------

    def append(self, message: Message) -> None:
        """Add a message."""
        position = len(self.positions)
        self._kept[position] = message
        self.positions.add(message.id)
        if "register" in self.__dict__:
            self.register.add(message.id)
        if self._leaving:
            self._leave()

    def put(self, message: Message) -> None:
        """Replace the message with the same id; the new one always stays in memory."""
        self._kept[self.positions[message.id]] = message

    def hold(self, ids: Iterable[str]) -> None:
        """Read messages into memory; ids that are not in the log are skipped."""
        found = map(self.positions.get, ids)
        self.take(position for position in found if position is not None)

    def take(self, positions: Iterable[int]) -> None:
        """Read the messages at some positions into memory."""
        self._leaving = []
        coming = iter(positions)
        # Run by run: a damaged store may claim more messages than fit into memory.
        while run := set(islice(coming, PAGE)):
            missing = sorted(position for position in run if position not in self._kept)
            self._kept.update(self._fetch(missing))

    def whole(self) -> tuple[Message, ...]:
        """Return all messages; they stay in memory, as a caller usually needs them again."""
        if not self._whole:
            self.take(range(len(self)))
            self._whole = True
        return tuple(self)

    def release(self, view_ids: Collection[str]) -> None:
        """
        Release messages that are neither in view, nor new, nor pinned, if they are many.

        The memory is freed step by step, as messages are appended.
        """
        if self._whole or len(self._kept) - len(view_ids) < SPARE:
            return
        oldest = len(self) - LATELY
        idle = self._kept.keys() - {self.positions.get(number) for number in view_ids}
        self._leaving = [position for position in idle if position < oldest]

    def _leave(self) -> None:
        """Release a few of the messages that may be released."""
        for position in self._leaving[-RELEASED_AT_ONCE:]:
            if not self._kept[position].pinned:
                del self._kept[position]
        del self._leaving[-RELEASED_AT_ONCE:]

    def recent(self, count: int, ids: Iterable[str]) -> Iterator[tuple[int, Message]]:
        """Yield the messages with some ids and the newest ``count``, in order with positions."""
        size = len(self)
        old = {self.positions.get(number, size) for number in ids}
        start = max(0, size - count)
        positions = [*sorted(one for one in old if one < start), *range(start, size)]
        return zip(positions, self.at(positions), strict=True)


class _Originals(Mapping[str, Message]):
    """The messages of a log by id."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __getitem__(self, number: str) -> Message:
        return self._log[self._log.positions[number]]

    def __contains__(self, number: object) -> bool:
        return number in self._log.positions

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._log.positions))

    def __len__(self) -> int:
        return len(self._log)


Step: TypeAlias = tuple[int, Sequence[Edit]]
"""The length of the log at the time, and the edits made then."""

_UNREAD: Final = Message("system", ())
"""Placeholder of a message that is not read; no edit changes it."""


@frozen
class ReplayStart:
    """The start of a replay: the view when the log had ``at`` messages."""

    at: int = 0
    messages: tuple[Message, ...] = ()


def replay_log(
    log: Log, steps: Iterable[Step], start: ReplayStart | None = None
) -> tuple[Message, ...]:
    """
    Return the view of a log with these edits and no others.

    It equals `foldline.values.edits.apply` over the whole log; only messages in the resulting view
    are read.

    Args:
        log: The log.
        steps: The edits, in the order in which they were made.
        start: The view before the first of them, where that is known.
    """
    start = start or ReplayStart()
    with reading(log.name):
        made = tuple(steps)
        if not made:
            coming = range(start.at, len(log))
            log.take(coming)
            return (*start.messages, *log.at(coming))
        # A moved message keeps its own id.
        moved = {e.message for _, edits in made for e in edits if isinstance(e, Move)}
        known = {number: Message("system", (), id=number) for number in moved}
        before = {message.id for message in start.messages}
        view = _run(log, made, known, start)
        stays = [number for number in view if number not in before and number in log.positions]
        log.hold(stays)
        known.update((number, log.originals[number]) for number in stays)
        return tuple(_run(log, made, known, start).values())


def _run(
    log: Log, steps: Sequence[Step], read: Mapping[str, Message], start: ReplayStart
) -> dict[str, Message]:
    """Add messages up to the length of each step, then apply its edits."""
    view = {message.id: message for message in start.messages}
    coming, at = log.positions.since(start.at), start.at
    for moment, edits in (*steps, (len(log), ())):
        for number in islice(coming, max(0, moment - at)):
            view[number] = read.get(number, _UNREAD)
        at = max(at, moment)
        view = apply_by_id(view, edits)
    return view
