"""JSON files that hold conversations; unchanged parts are written byte for byte."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from foldline.errors import InputError
from foldline.formats.fields import prefix_errors
from foldline.formats.recording import FileFormat, RecordedConversation, Recording
from foldline.formats.source import TranscriptSource
from foldline.frozen import field, frozen
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

Path: TypeAlias = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED_TEXT = re.compile(r"\\u(?!00[0-7])[0-9a-fA-F]{4}")
_HALVES = re.compile("[\ud800-\udfff]")
_read = json.JSONDecoder().raw_decode


@frozen
class JsonMember:
    """
    A value inside an object or a list, and its position in the text.

    The key of an object's member spans ``opens`` to ``closes``; in a list both are ``start``.
    """

    key: str | int
    opens: int
    closes: int
    start: int
    end: int


@frozen
class JsonStyle:
    """
    The layout of a piece of JSON.

    ``indent`` is one step of indentation (None for one line), ``base`` the white space at the
    start of every further line, ``ascii_only`` whether other characters are escaped.
    """

    indent: str | None = None
    base: str = ""
    comma: str = ", "
    colon: str = ": "
    ascii_only: bool = False

    def dumps(self, value: Any) -> str:
        """
        Write a value.

        Raises:
            InputError: The value is nested too deeply to be written.
        """
        try:
            text = json.dumps(
                value,
                indent=self.indent,
                separators=(self.comma, self.colon),
                ensure_ascii=self.ascii_only,
            )
        except RecursionError as error:
            raise InputError("A value is nested too deeply to be written") from error
        text = escape_halves(text)
        return text.replace("\n", "\n" + self.base) if self.base else text


def escape_halves(text: str) -> str:
    """Return JSON with lone surrogates, which no encoding can represent, escaped."""
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def escapes(text: str) -> bool:
    """Return True if a document escapes every character outside ASCII."""
    return text.isascii() and _ESCAPED_TEXT.search(text) is not None


def style_of(text: str, start: int = 0, base: str = "") -> JsonStyle:
    """
    Detect the layout of the value at ``start``.

    Args:
        text: The whole document.
        start: Where the value begins.
        base: White space at the start of the value's line.
    """
    inside = list(members(text, start, 2))
    ascii_only = escapes(text)
    if not inside:
        return JsonStyle(base=base, ascii_only=ascii_only)
    lead = text[start + 1 : inside[0].opens]
    colon = text[inside[0].closes : inside[0].start] or ": "
    if "\n" in lead:
        indent = lead.rsplit("\n", 1)[1].removeprefix(base) or "  "
        return JsonStyle(indent, base, ",", colon, ascii_only)
    comma = text[inside[0].end : inside[1].opens] if len(inside) > 1 else ", "
    return JsonStyle(None, base, ", " if "\n" in comma else comma, colon, ascii_only)


def members(text: str, start: int, limit: int | None = None) -> Iterator[JsonMember]:
    """
    Yield the values of the object or list at ``start``, with their positions in the text.

    The text must be valid JSON. A value that is neither object nor list has no members.
    """
    kind, position, index = text[start], _skip(text, start + 1), 0
    if kind not in "{[":
        return
    while text[position] not in "}]" and (limit is None or index < limit):
        opens, key = position, index
        closes = position
        if kind == "{":
            key, closes = _read(text, position)
            position = _skip(text, _skip(text, closes) + 1)
        _, end = _read(text, position)
        yield JsonMember(key, opens, closes, position, end)
        index += 1
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def replace_values(text: str, document: Any, changes: Mapping[Path, Any]) -> str:
    """
    Rewrite a document with new values at some paths.

    Items of a new list that are the same objects as in the old list keep their exact text;
    everything outside the changed values does too.

    Args:
        text: The document.
        document: The result of ``json.loads(text)``.
        changes: The new value for each path, such as ``("values", "messages")``.

    Returns:
        The new text.
    """
    start = _skip(text, 0)
    pieces, done = [], 0
    for begin, end, new in sorted(_rewrites(text, start, document, changes)):
        pieces += [text[done:begin], new]
        done = end
    return "".join((*pieces, text[done:]))


def _rewrites(
    text: str, start: int, value: Any, changes: Mapping[Path, Any]
) -> Iterator[tuple[int, int, str]]:
    if () in changes:
        yield _rewrite(text, start, value, changes[()])
        return
    deeper: dict[str | int, dict[Path, Any]] = defaultdict(dict)
    for path, new in changes.items():
        deeper[path[0]][path[1:]] = new
    # The last of repeated keys wins, as in json.loads.
    places = {member.key: member for member in members(text, start) if member.key in deeper}
    for key, member in places.items():
        yield from _rewrites(text, member.start, value[key], deeper[key])


def _rewrite(text: str, start: int, old: Any, new: Any) -> tuple[int, int, str]:
    end = _read(text, start)[1]
    if not isinstance(old, list) or not isinstance(new, Sequence) or isinstance(new, str):
        return start, end, style_of(text, start, _base(text, start)).dumps(new)
    places = list(members(text, start))
    if not new:
        return start, end, "[]"
    style, lead, comma, tail = _list_layout(text, start, end, places)
    kept = {id(item): place for item, place in zip(old, places, strict=True)}
    items = []
    for item in new:
        place = kept.get(id(item))
        items.append(text[place.start : place.end] if place else style.dumps(item))
    return start, end, f"[{lead}{comma.join(items)}{tail}]"


def _list_layout(
    text: str, start: int, end: int, places: Sequence[JsonMember]
) -> tuple[JsonStyle, str, str, str]:
    if not places:
        return JsonStyle(ascii_only=escapes(text)), "", ", ", ""
    lead, tail = text[start + 1 : places[0].start], text[places[-1].end : end - 1]
    base = lead.rsplit("\n", 1)[1] if "\n" in lead else ""
    filled = next((place for place in places if place.end - place.start > 2), places[0])
    style = style_of(text, filled.start, base)
    comma = text[places[0].end : places[1].start] if len(places) > 1 else ""
    return style, lead, comma or ("," + lead if lead else style.comma), tail


def _base(text: str, start: int) -> str:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line[: len(line) - len(line.lstrip())]


@frozen
class ConversationPath:
    """The path of a conversation in a document, and its messages as read."""

    path: Path
    messages: tuple[Message, ...] = field(repr=False)


@frozen
class JsonDocument:
    """A JSON document with the paths of its conversations."""

    source: TranscriptSource
    places: tuple[ConversationPath, ...] = ()

    def with_values(self, changes: Mapping[Path, Any]) -> bytes:
        """Return the document with new values at some paths; see `replace_values`."""
        source = self.source
        mark = "\ufeff".encode(source.encoding)
        text = replace_values(source.text, source.document, changes)
        data = text.encode(source.encoding, "surrogatepass")
        return mark + data if source.data.startswith(mark) else data


def at(value: Any, path: Path) -> Any:
    """Return the value at a path of a JSON value, or None."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def is_list_of_objects(value: Any, *keys: str) -> bool:
    """Return True for a non-empty list of objects that all have these keys."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, dict) and item.keys() >= set(keys) for item in value)


class JsonFormat(FileFormat):
    """
    A kind of JSON document that holds conversations.

    A subclass locates its lists of messages in ``find``, and converts their entries in ``read``
    and ``write``. ``several`` is True if a document may hold more than one conversation: then
    errors name the conversation.
    """

    several: ClassVar[bool] = False

    @abstractmethod
    def find(self, document: Any) -> Iterable[tuple[str, Path, Any]]:
        """
        Yield the name of each conversation, the path of its list, and the argument for `read`.

        Raises:
            InputError: There is none, or a field on the path has a wrong type.
        """

    @abstractmethod
    def read(self, wire: Any) -> Transcript:
        """
        Read a conversation.

        Raises:
            InputError: Naming the message index and the field.
        """

    @abstractmethod
    def write(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages as entries; unchanged ones as their original entries."""

    def rewrite(self, before: Sequence[Any], place: ConversationPath, there: Transcript) -> Any:
        """Return the new list of a changed conversation, given the old one."""
        del before, place
        return self.write(there.messages)

    def decode(self, source: TranscriptSource) -> Recording:
        """Read every conversation of a document."""
        places, conversations = [], []
        for name, path, wire in self.find(source.document):
            with prefix_errors(name if self.several else ""):
                transcript = self.read(wire)
            places.append(ConversationPath(path, transcript.messages))
            conversations.append(RecordedConversation(name, transcript))
        return Recording(self.name, tuple(conversations), JsonDocument(source, tuple(places)))

    def encode(self, recording: Recording) -> bytes:
        """Write a document; an unchanged one is returned as its original bytes."""
        document: JsonDocument = recording.document
        whole = document.source.document
        changes = {
            place.path: self.rewrite(at(whole, place.path), place, there.transcript)
            for place, there in zip(document.places, recording.conversations, strict=True)
            if not is_unchanged(place.messages, there.transcript.messages)
        }
        return document.with_values(changes) if changes else document.source.data


def is_unchanged(before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Return True if messages are those that were read, in order and unchanged."""
    return len(before) == len(after) and all(
        new is old or (new.intact and new.raw is old.raw and new.id == old.id)
        for old, new in zip(before, after, strict=True)
    )
