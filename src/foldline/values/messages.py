"""Messages and their parts, each with its wire original."""

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

    ``arguments`` is the JSON text of the arguments, or free text if the wire has free text. ``id``
    is None if the wire has none; such calls pair with results by name and order.
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

    ``size`` is in bytes as transported (base64 counted decoded), 0 if only a reference is sent;
    ``width`` and ``height`` are in pixels, each None if unknown, as is the number of ``pages``.
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

    ``signed`` reasoning must be sent back unchanged or omitted as a whole.
    """

    text: str
    signed: bool = False
    raw: Any = field(default=None, compare=False, repr=False)


@frozen
class Opaque:
    """A part of an unknown kind; it is kept and never edited."""

    kind: str
    text: str = ""
    raw: Any = field(default=None, compare=False, repr=False)


Content: TypeAlias = Text | Media | Opaque


@frozen
class ToolResult:
    """The result of the tool call with the id ``call_id``."""

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
    """A placeholder for a part removed by an edit; it is not sent, and keeps positions stable."""

    kind: str


AGENT_MESSAGE = "agent_message"
"""The kind of an opaque part that another agent sent."""

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
        """All input of the request, cached or not, in tokens."""
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

    ``raw`` is the original message, in the wire format named by ``dialect``; it is emitted
    unchanged while ``intact``. A changed message keeps ``raw`` as the envelope whose other fields
    are preserved. ``origin`` is "" for a message of the conversation itself, else the kind of edit
    that created it.
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
        return "\n".join([part.text for part in self.parts if isinstance(part, Text)])

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results, in order."""
        return tuple([part for part in self.parts if isinstance(part, ToolResult)])

    @property
    def has_calls(self) -> bool:
        """Whether the parts include a tool call."""
        return any(isinstance(part, ToolCall) for part in self.parts)

    @property
    def has_results(self) -> bool:
        """Whether the parts include a tool result."""
        return any(isinstance(part, ToolResult) for part in self.parts)

    def is_from_user(self) -> bool:
        """Return True if this holds text of a user, not of a tool or of this library."""
        return (
            self.role == "user"
            and self.origin != "repair"
            and not self.is_attachment()
            and any(
                isinstance(part, (Media, Opaque)) or (isinstance(part, Text) and part.text.strip())
                for part in self.parts
            )
        )

    def is_from_agent(self) -> bool:
        """Return True if another agent sent this, an item of its own kind on the wire."""
        return bool(self.parts) and all(
            isinstance(part, Opaque) and part.kind == AGENT_MESSAGE for part in self.parts
        )

    def is_attachment(self) -> bool:
        """Return True if this was reinjected by a compaction: files and the plan."""
        return self.role == "user" and (
            self.origin == "reinject" or self.is_sealed(ATTACHMENT_HEADER)
        )

    def is_sealed(self, *headers: str) -> bool:
        """Return True if this is only a sealed text of Foldline with one of these headers."""
        first = self.parts[0] if self.parts else None
        if not isinstance(first, Text) or not first.text.startswith(headers):
            return False
        text = self.text
        end = seal_end(text, headers)
        texts = all(isinstance(part, Text) for part in self.parts)
        return texts and end > 0 and not text[end:].strip()

    def with_id(self, number: str) -> Message:
        """Return a copy with an id; like `replace`, in a third of the time."""
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
        """Return a copy with new parts, marked as no longer intact."""
        return replace(self, parts=parts, intact=False)

    def with_part(self, index: int, part: Part) -> Message:
        """Return a copy with the part at ``index`` replaced."""
        return self.with_parts((*self.parts[:index], part, *self.parts[index + 1 :]))


def visible_texts(message: Message) -> Iterator[str]:
    """Yield every text of a message that is sent to a model, including arguments and results."""
    for part in message.parts:
        if isinstance(part, ToolCall):
            yield part.name
            yield part.arguments
        elif isinstance(part, ToolResult) or (
            not isinstance(part, (Media, Omitted)) and part.text
        ):
            yield part.text
