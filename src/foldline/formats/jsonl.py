"""JSON Lines as bytes: every line is kept unchanged, and new ones follow its layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from foldline.errors import InputError
from foldline.formats.arrangement import (
    Arrangement,
    LineTree,
    Places,
    Slot,
    arrange,
    merge_entries,
    relink,
)
from foldline.formats.dialect import Dialect
from foldline.formats.fields import prefix_errors
from foldline.formats.json_document import is_unchanged, style_of
from foldline.formats.recording import FileFormat, Recording, name_segments, wrong_format
from foldline.formats.source import TranscriptSource, parse_line
from foldline.frozen import field, frozen
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

_MOST_WARNINGS = 20
"""Number of unreadable lines that are listed individually."""


@frozen
class Lines:
    """The lines of a file with their endings, and their encoding."""

    data: tuple[bytes, ...] = field(repr=False)
    encoding: str = "utf-8"

    def value(self, number: int) -> dict[str, Any]:
        """Parse a line again; an empty object if it is not a JSON object."""
        value = parse_line(self.data[number], self.encoding)
        return value if isinstance(value, dict) else {}

    def write(self, value: Any, like: int) -> bytes:
        """
        Write a value in the layout of another line, with its line ending.

        Raises:
            InputError: The value is nested too deeply to be written.
        """
        text = self.data[like].decode(self.encoding, "replace").removeprefix("\ufeff")
        ending = text[len(text.rstrip("\r\n")) :]
        line = style_of(text.strip()).dumps(value) + ending
        return line.encode(self.encoding, "surrogatepass")

    def assemble(self, lines: Iterable[bytes]) -> bytes:
        """Join lines, each on its own line, after the byte order mark of the file."""
        feed, mark = "\n".encode(self.encoding), "\ufeff".encode(self.encoding)
        pieces = list(lines)
        whole = [line if line.endswith(feed) else line + feed for line in pieces[:-1]]
        data = b"".join((*whole, *pieces[-1:]))
        marked = bool(self.data) and self.data[0].startswith(mark)
        return mark + data if marked and not data.startswith(mark) else data

    def replace(
        self, owned: Iterable[int], after: Iterable[tuple[int | None, Sequence[bytes]]]
    ) -> bytes:
        """Replace the lines that belong to messages; see `merge_entries`."""
        silent = set(range(len(self.data))).difference(owned)
        return self.assemble(merge_entries(self.data, silent, after))


@frozen
class MessageLines:
    """
    A file with one message per line, on some of its lines.

    ``rows`` are the numbers of these lines, ``wires`` the wire values of the ``messages``.
    """

    source: TranscriptSource
    lines: Lines
    rows: tuple[int, ...] = field(repr=False)
    wires: tuple[Any, ...] = field(repr=False)
    messages: tuple[Message, ...] = field(repr=False)

    def rewrite(
        self, messages: Sequence[Message], dialect: Dialect, entry: Callable[[Any, int], Any]
    ) -> bytes:
        """
        Return the file with changed messages; new lines have the layout of the first one.

        Args:
            messages: The changed messages; untouched ones keep their lines.
            dialect: The dialect that writes them.
            entry: Returns the value of a new line, given its wire message and its number.
        """
        if is_unchanged(self.messages, messages):
            return self.source.data
        data, where = self.lines.data, dict(zip(map(id, self.wires), self.rows, strict=True))
        place = min(self.rows, default=0)  # a header stays before what is new
        like, after = place, list[tuple[int | None, list[bytes]]]()
        for number, wire in enumerate(dialect.messages(messages)):
            row = where.get(id(wire))
            place = place if row is None else row
            new = self.lines.write(entry(wire, number), like) if row is None else data[row]
            after.append((place, [new]))
        return self.lines.replace(self.rows, after)


def read_lines(source: TranscriptSource) -> tuple[Lines, list[Any], tuple[str, ...]]:
    """
    Read a file line by line.

    Returns:
        The lines; for each of them the JSON object, or None; and a warning for each line that
        is neither blank nor a JSON object.
    """
    lines = Lines(source.lines, source.encoding)
    values = [parse_line(line, source.encoding) for line in lines.data]
    objects = [value if isinstance(value, dict) else None for value in values]
    data = lines.data
    bad = [n for n, line in enumerate(data) if objects[n] is None and line.strip(b"\0 \t\r\n")]
    warnings = [_sentence(data[number], number, len(data)) for number in bad[:_MOST_WARNINGS]]
    if len(bad) > _MOST_WARNINGS:
        warnings.append(f"{len(bad) - _MOST_WARNINGS} more lines are not JSON objects")
    return lines, objects, tuple(warnings)


def _sentence(line: bytes, number: int, count: int) -> str:
    if line.lstrip(b"\xef\xbb\xbf \t").startswith(b"//"):
        return f"line {number + 1} is a comment"
    if number == count - 1 and not line.endswith(b"\n"):
        return f"line {number + 1}, the last one, is cut off: it is kept, but not read"
    return f"line {number + 1} is not a JSON object: it is kept, but not read"


def at_line(numbers: Sequence[int]) -> AbstractContextManager[None]:
    """
    Add the line number to errors about a message.

    Args:
        numbers: The line of each message, counted from 0.
    """

    def line(error: InputError) -> str:
        known = error.index is not None and error.index < len(numbers)
        return f"line {numbers[error.index or 0] + 1}" if known else ""

    return prefix_errors(line)


@frozen
class SessionSegment:
    """The model's view up to a compaction, or the current one, with the lines of each message."""

    messages: tuple[Message, ...] = field(default=(), repr=False)
    places: Places = field(default_factory=dict, repr=False)


def collect_message_lines(segments: Iterable[SessionSegment]) -> frozenset[int]:
    """Return the lines of all messages."""
    places = (lines for segment in segments for lines in segment.places.values())
    return frozenset(line for lines in places for line in lines)


class SessionFormat(FileFormat):
    """
    A kind of session file that is divided into segments by compactions.

    ``dialect`` is the dialect of the messages.
    """

    dialect: ClassVar[str]

    @abstractmethod
    def read(self, source: TranscriptSource) -> tuple[Any, tuple[str, ...]]:
        """
        Return a session with its segments, the current one last, and warnings.

        Raises:
            InputError: A message is malformed; the error names line and field.
        """

    @abstractmethod
    def draft(self, session: Any) -> SessionDraft:
        """Create a draft of the changed session file."""

    def transcript(self, session: Any, segment: SessionSegment) -> Transcript:
        """Return a segment as a conversation."""
        del session
        return Transcript(segment.messages, self.dialect)

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the segments of a session."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        session, warnings = self.read(source)
        transcripts = [self.transcript(session, segment) for segment in session.segments]
        return Recording(self.name, name_segments(transcripts, session.id), session, warnings)

    def encode(self, recording: Recording) -> bytes:
        """Write a session; unchanged lines are kept, changed and new ones use the same layout."""
        session = recording.document
        return self.draft(session).write(session.segments, recording)


class SessionDraft(ABC):
    """A draft of a session file: its slots, and those with a new parent."""

    def __init__(self, lines: Lines) -> None:
        self.old = lines
        self.slots: tuple[Slot, ...] = tuple(range(len(lines.data)))
        self.parents: dict[int | str, str | None] = {}

    @abstractmethod
    def apply(self, segment: Any, messages: Sequence[Message]) -> None:
        """Apply the changes of one segment."""

    @abstractmethod
    def lines(self) -> Iterator[bytes]:
        """Write all slots."""

    def write(self, segments: Iterable[SessionSegment], recording: Recording) -> bytes:
        """Write the file; segments with the same messages are kept unchanged."""
        for segment, there in zip(segments, recording.conversations, strict=True):
            messages = there.transcript.messages
            if not is_unchanged(segment.messages, messages):
                self.apply(segment, messages)
        return self.old.assemble(self.lines())

    def arrange(self, places: Places, messages: Sequence[Message], start: int = 0) -> Arrangement:
        """Arrange the messages of a segment; see `arrange`."""
        arrangement = arrange(self.slots, places, messages, start)
        self.slots = arrangement.slots
        return arrangement

    def remove(self, removed: Collection[Slot]) -> None:
        """Remove slots."""
        self.slots = tuple(slot for slot in self.slots if slot not in removed)

    def relink(
        self,
        tree: LineTree,
        moved: frozenset[int],
        path: frozenset[int],
        key_of: Callable[[Message], str],
    ) -> None:
        """Keep the chain of parents whole; see `relink`."""
        parents = relink(tree, Arrangement(self.slots, moved), path, key_of)
        for position, parent in parents.items():
            slot = self.slots[position]
            self.parents[slot.id if isinstance(slot, Message) else slot] = parent


class JsonDraft(SessionDraft):
    """
    A draft of a session file in which every line is JSON.

    Args:
        lines: The original file.
        message_lines: The lines that may serve as layout for new ones.
    """

    def __init__(self, lines: Lines, message_lines: Iterable[int]) -> None:
        super().__init__(lines)
        self.message_lines = frozenset(message_lines)

    @abstractmethod
    def update_line(self, line: int) -> Any:
        """Return the new value of a line, None if it does not change."""

    @abstractmethod
    def new_values(self, message: Message, near: dict[str, Any]) -> Iterable[Any]:
        """Return the line values of a new message, given the value of a nearby line."""

    def lines(self) -> Iterator[bytes]:
        """Write all slots."""
        neighbour = min(self.message_lines, default=0)
        for slot in self.slots:
            if isinstance(slot, Message):
                for value in self.new_values(slot, self.old.value(neighbour)):
                    yield self.old.write(value, like=neighbour)
                continue
            value = self.update_line(slot)
            yield self.old.data[slot] if value is None else self.old.write(value, like=slot)
            neighbour = slot if slot in self.message_lines else neighbour
