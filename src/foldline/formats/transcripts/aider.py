"""aider chat histories: chats, and the pieces that make up their messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Literal, TypeAlias

from foldline.formats.conversion import flat_text
from foldline.formats.jsonl import Lines, SessionDraft, SessionSegment
from foldline.formats.recording import FileFormat, RecordedConversation, Recording, wrong_format
from foldline.formats.source import TranscriptSource, decode_text
from foldline.frozen import field, frozen
from foldline.values.messages import Message, Omitted, Part, Role, Text
from foldline.values.transcript import Transcript

NAME = "aider"
START = "# aider chat started at "
PROMPT = "#### "
OUTPUT = "> "

Speaker: TypeAlias = Literal["user", "aider", "model"]

_SPEAKERS: Mapping[Role, Speaker] = {"assistant": "model", "user": "user"}
"""The speaker of a new message by role; all others are aider."""

_MARKS: Mapping[Speaker, str] = {"user": PROMPT, "aider": OUTPUT, "model": ""}


@frozen
class AiderPiece:
    """Adjacent lines of one speaker, from ``start`` to before ``end``."""

    speaker: Speaker
    start: int
    end: int


@frozen
class AiderChat(SessionSegment):
    """
    The messages of one chat, which begins at the line ``start``.

    ``pieces`` maps a message id to the pieces that its parts were read from.
    """

    pieces: Mapping[str, tuple[AiderPiece, ...]] = field(default_factory=dict, repr=False)
    start: int = 0


@frozen
class AiderHistory:
    """A parsed chat history, with all that is needed to write it."""

    lines: Lines
    chats: tuple[AiderChat, ...]


LOOKED_AT = 512 * 1024
"""Bytes of a file that are searched for the beginning of a chat; a banner can be long."""


class Aider(FileFormat):
    """The file ``.aider.chat.history.md``."""

    name = NAME
    title = "aider chat history (.md)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for the line that begins a chat, and for prompts."""
        lines = decode_text(source.data[:LOOKED_AT], source.encoding).split("\n")
        if any(line.startswith(START) for line in lines):
            return 1.0
        marked = [line for line in lines if line.startswith(("#### ", "> "))]
        prompts = any(line.startswith("#### ") and line.endswith("  ") for line in marked)
        return 0.3 if prompts and source.document is None else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read one conversation for every chat; the last one is the current one."""
        if not self.recognises(source):
            raise wrong_format(source, self.title)
        lines = Lines(source.lines, source.encoding)
        texts = [decode_text(line, source.encoding).rstrip("\r\n") for line in lines.data]
        starts = [number for number, text in enumerate(texts) if text.startswith(START)]
        edges = [*([0] if starts[:1] != [0] else []), *starts, len(texts)]
        chats, conversations = [], []
        for start, end in pairwise(edges):
            begun = texts[start].startswith(START) if texts else False
            turns = list(_turns(texts, start + begun, end))
            if not turns and not begun and starts:
                continue
            transcript = Transcript.of(
                [_message(texts, role, pieces) for role, pieces in turns], NAME
            )
            messages = transcript.messages
            pieces = {m.id: found for m, (_, found) in zip(messages, turns, strict=True)}
            places = {
                key: tuple(line for piece in made for line in range(piece.start, piece.end))
                for key, made in pieces.items()
            }
            chats.append(AiderChat(messages, places, pieces, start))
            name = texts[start].removeprefix(START).strip() if begun else "before the first chat"
            conversations.append(RecordedConversation(name, transcript))
        return Recording(self.name, tuple(conversations), AiderHistory(lines, tuple(chats)))

    def encode(self, recording: Recording) -> bytes:
        """
        Write the file.

        Unchanged pieces are kept as they are. Adjacent messages of the model without a prompt
        between them are read back as one message: the file has no other separator.
        """
        history: AiderHistory = recording.document
        return _Draft(history).write(history.chats, recording)


def _turns(
    texts: Sequence[str], start: int, end: int
) -> Iterator[tuple[Role, tuple[AiderPiece, ...]]]:
    """Group pieces into messages: each prompt is one, everything after it another."""
    first = True
    for asks, run in groupby(_pieces(texts, start, end), lambda piece: piece.speaker == "user"):
        pieces = tuple(run)
        if asks:
            yield from (("user", (piece,)) for piece in pieces)
        else:
            banner = first and all(piece.speaker == "aider" for piece in pieces)
            yield "system" if banner else "assistant", pieces
        first = False


def _pieces(texts: Sequence[str], start: int, end: int) -> Iterator[AiderPiece]:
    """Split lines where the speaker changes; blank lines belong to the previous piece."""
    speaker: Speaker | None = None
    begin, blank = start, False
    for number in range(start, end):
        here = _speaker(texts[number])
        if here is None:
            blank = True
            continue
        if here != speaker or (blank and here == "user"):
            if speaker is not None:
                yield AiderPiece(speaker, begin, number)
            speaker, begin = here, number
        blank = False
    if speaker is not None:
        yield AiderPiece(speaker, begin, end)


def _speaker(text: str) -> Speaker | None:
    if not text.strip():
        return None
    if text.startswith(PROMPT):
        return "user"
    return "aider" if text.startswith(OUTPUT) else "model"


def _message(texts: Sequence[str], role: Role, pieces: Sequence[AiderPiece]) -> Message:
    parts = tuple(Text(_text(texts[p.start : p.end], p.speaker)) for p in pieces)
    speakers = zip(pieces, parts, strict=True)
    raw = [{"speaker": piece.speaker, "text": part.text} for piece, part in speakers]
    return Message(role, parts, raw, NAME)


def _text(texts: Sequence[str], speaker: Speaker) -> str:
    if speaker == "model":
        return "\n".join(texts).strip("\n")
    mark = _MARKS[speaker]
    marked = [text for text in texts if text.startswith(mark)]
    return "\n".join(text.removeprefix(mark).removesuffix("  ") for text in marked)


def mark(text: str, speaker: Speaker) -> list[str]:
    """
    Return text as lines of a speaker, followed by a blank line.

    A line of the model that looks like another speaker's is indented by a space.
    """
    if speaker != "model":
        return [*(f"{_MARKS[speaker]}{line}  " for line in text.split("\n")), ""]
    foreign = (PROMPT, OUTPUT, START)
    return [*(f" {t}" if t.startswith(foreign) else t for t in text.split("\n")), ""]


class _Draft(SessionDraft):
    """A draft of the file, with its changed and removed lines."""

    def __init__(self, history: AiderHistory) -> None:
        super().__init__(history.lines)
        self.history = history
        self.changed: dict[int, bytes] = {}
        first = history.lines.data[0] if history.lines.data else b""
        self.ending = "\r\n" if first.endswith("\r\n".encode(history.lines.encoding)) else "\n"

    def apply(self, segment: AiderChat, messages: Sequence[Message]) -> None:
        """Apply the changes of one chat."""
        before = {message.id: message for message in segment.messages}
        for message in messages:
            if message.id in before and not message.intact:
                pieces = zip(segment.pieces[message.id], message.parts, strict=False)
                for (piece, part), old in zip(pieces, before[message.id].parts, strict=False):
                    if part != old:
                        self._change(piece, part)
        self.arrange(segment.places, messages, segment.start)

    def _change(self, piece: AiderPiece, part: Part) -> None:
        new = [] if isinstance(part, Omitted) else mark(flat_text([part]), piece.speaker)
        self.changed |= dict.fromkeys(range(piece.start, piece.end), b"")
        self.changed[piece.start] = self._bytes(new)

    def lines(self) -> Iterator[bytes]:
        """Write all slots, with a blank line between prompts that would otherwise merge."""
        data, prompt = self.history.lines.data, PROMPT.encode(self.history.lines.encoding)
        begun = {pieces[0].start for chat in self.history.chats for pieces in chat.pieces.values()}
        last = b""
        for slot in self.slots:
            if isinstance(slot, Message):
                speaker = _SPEAKERS.get(slot.role, "aider")
                texts = [*(result.text for result in slot.results), flat_text(slot.parts)]
                line = self._bytes(["", *mark("\n".join(texts), speaker)])
            else:
                line = self.changed.get(slot, data[slot])
                if slot in begun and last.startswith(prompt) and line.startswith(prompt):
                    yield self._bytes([""])
            if line:
                yield line
                last = line

    def _bytes(self, lines: Sequence[str]) -> bytes:
        text = "".join(line + self.ending for line in lines)
        return text.encode(self.history.lines.encoding, "surrogatepass")
