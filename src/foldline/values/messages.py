"""Messages and their parts: what a conversation is made of, each with its wire original."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from foldline.frozen import field, frozen, replace
from foldline.values.snapshot_mark import ATTACHMENT_HEADER, seal_end

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
MediaKind: TypeAlias = Literal["image", "audio", "video", "document"]


@frozen
class Text:
    """Visible text."""

    text: str
    raw: Any = field(default=None, compare=False, repr=False)


@frozen
class ToolCall:
    """
    A request of the model to run a tool.

    ``arguments`` is the JSON text of the arguments, or free text where the wire has free text.
    ``id`` is None where the wire has none; such calls pair with results by name and order.
    """

    id: str | None
    name: str
    arguments: str
    signed: bool = False
    raw: Any = field(default=None, compare=False, repr=False)


@frozen
class Media:
    """
    An image, a sound, a film or a document.

    ``size`` is in bytes as transported (base64 counted decoded), 0 where only a reference is sent;
    ``width`` and ``height`` are in pixels, ``pages`` in pages, each None where unknown.
    """

    kind: MediaKind
    media_type: str = ""
    size: int = 0
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    detail: str | None = None
    raw: Any = field(default=None, compare=False, repr=False)


@frozen
class Thinking:
    """
    Reasoning of the model: its visible text, and whether opaque bytes bind it to its call.

    ``signed`` reasoning must be sent back untouched or left out as a whole.
    """

    text: str
    signed: bool = False
    raw: Any = field(default=None, compare=False, repr=False)


@frozen
class Opaque:
    """A part that this library does not understand; it is carried along and never edited."""

    kind: str
    text: str = ""
    raw: Any = field(default=None, compare=False, repr=False)


Content: TypeAlias = Text | Media | Opaque


@frozen
class ToolResult:
    """What a tool answered to the call with the id ``call_id``."""

    call_id: str | None
    content: tuple[Content, ...]
    name: str = ""
    is_error: bool = False
    raw: Any = field(default=None, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The visible text of the result, its pieces joined by line feeds."""
        texts = [part.text for part in self.content if not isinstance(part, Media)]
        return texts[0] if len(texts) == 1 else "\n".join(texts)


@frozen
class Omitted:
    """The place of a part that an edit left out; nothing of it is sent. Positions stay stable."""

    kind: str


Part: TypeAlias = Text | ToolCall | ToolResult | Thinking | Media | Opaque | Omitted


@frozen
class Usage:
    """Tokens that a provider reported for the request that a message answered."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """Tokens in the window after the answer: everything read plus everything written."""
        return self.read + self.output

    @property
    def read(self) -> int:
        """Everything that the request took, from the cache or not, in tokens."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@frozen
class Message:
    """
    One message of a conversation.

    ``raw`` is the message exactly as it came, in the wire format named by ``dialect``; it is
    emitted as it is while ``intact``. A changed message keeps ``raw`` as the envelope whose
    other fields are preserved. ``origin`` tells what made the message: "" for the conversation
    itself, else the kind of edit.
    """

    role: Role
    parts: tuple[Part, ...]
    raw: Any = field(default=None, compare=False, repr=False)
    dialect: str = field(default="", compare=False)
    id: str = field(default="", compare=False)
    name: str | None = None
    intact: bool = field(default=True, compare=False)
    pinned: bool = field(default=False, compare=False)
    usage: Usage | None = field(default=None, compare=False, repr=False)
    origin: str = field(default="", compare=False)

    @property
    def text(self) -> str:
        """The visible text of the text parts, joined by line feeds."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple(part for part in self.parts if isinstance(part, ToolResult))

    @property
    def has_calls(self) -> bool:
        """Whether a tool call is among the parts."""
        return any(isinstance(part, ToolCall) for part in self.parts)

    @property
    def has_results(self) -> bool:
        """Whether a tool result is among the parts."""
        return any(isinstance(part, ToolResult) for part in self.parts)

    def is_from_user(self) -> bool:
        """Return True if this holds words of a user, rather than of a tool or of this library."""
        return (
            self.role == "user"
            and self.origin != "repair"
            and not self.is_attachment()
            and any(
                isinstance(part, (Media, Opaque)) or (isinstance(part, Text) and part.text.strip())
                for part in self.parts
            )
        )

    def is_attachment(self) -> bool:
        """Return True if this is what a compaction put back, files and the plan."""
        return self.role == "user" and (
            self.origin == "reinject" or self.is_sealed(ATTACHMENT_HEADER)
        )

    def is_sealed(self, *headers: str) -> bool:
        """Return True if this is nothing but a sealed text of Foldline with such a header."""
        first = self.parts[0] if self.parts else None
        if not isinstance(first, Text) or not first.text.startswith(headers):
            return False
        text = self.text
        end = seal_end(text, headers)
        texts = all(isinstance(part, Text) for part in self.parts)
        return texts and end > 0 and not text[end:].strip()

    def with_id(self, number: str) -> Message:
        """Return a copy with an id; the same as `replace`, in a third of its time."""
        return Message(
            self.role,
            self.parts,
            self.raw,
            self.dialect,
            number,
            self.name,
            self.intact,
            self.pinned,
            self.usage,
            self.origin,
        )

    def with_parts(self, parts: tuple[Part, ...]) -> Message:
        """Return a copy with other parts, marked as no longer intact."""
        return replace(self, parts=parts, intact=False)

    def with_part(self, index: int, part: Part) -> Message:
        """Return a copy in which the part at ``index`` is another one."""
        return self.with_parts((*self.parts[:index], part, *self.parts[index + 1 :]))


def visible_texts(message: Message) -> Iterator[str]:
    """Yield every text of a message that a model reads, call arguments and results included."""
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield part.name
            yield part.arguments
        elif isinstance(part, ToolResult) or (
            not isinstance(part, (Media, Omitted)) and part.text
        ):
            yield part.text
