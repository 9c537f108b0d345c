"""Reading an aider chat history: chats, and the pieces of which their messages are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, TypeAlias

from foldline.formats.jsonl import Lines
from foldline.formats.recording import Conversation
from foldline.formats.source import Source, decoded
from foldline.values.messages import Message, Role, Text
from foldline.values.transcript import Transcript

NAME = "aider"
START = "# aider chat started at "
PROMPT = "#### "
OUTPUT = "> "

Speaker: TypeAlias = Literal["user", "aider", "model"]

_MARKS: Mapping[Speaker, str] = {"user": PROMPT, "aider": OUTPUT, "model": ""}


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring lines of one speaker, from ``start`` to before ``end``."""

    speaker: Speaker
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chat:
    """
    The messages of one chat, which begins at the line ``start``.

    ``pieces`` are what the parts of a message stand for, by message id.
    """

    messages: tuple[Message, ...] = field(repr=False)
    pieces: Mapping[str, tuple[Piece, ...]] = field(repr=False)
    start: int


@dataclass(frozen=True, slots=True)
class History:
    """A chat history, ready to be written again."""

    lines: Lines
    chats: tuple[Chat, ...]


def read(source: Source) -> tuple[History, tuple[Conversation, ...]]:
    """Read a chat history."""
    lines = Lines(source.lines, source.encoding)
    texts = [decoded(line, source.encoding).rstrip("\r\n") for line in lines.data]
    starts = [number for number, text in enumerate(texts) if text.startswith(START)]
    edges = [*([0] if starts[:1] != [0] else []), *starts, len(texts)]
    chats, conversations = [], []
    for start, end in pairwise(edges):
        begun = texts[start].startswith(START) if texts else False
        turns = list(_turns(texts, start + begun, end))
        if not turns and not begun and starts:
            continue
        transcript = Transcript.of([_message(texts, role, pieces) for role, pieces in turns], NAME)
        messages = transcript.messages
        pieces = {m.id: found for m, (_, found) in zip(messages, turns, strict=True)}
        chats.append(Chat(messages, pieces, start))
        name = texts[start].removeprefix(START).strip() if begun else "before the first chat"
        conversations.append(Conversation(name, transcript))
    return History(lines, tuple(chats)), tuple(conversations)


def _turns(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[Role, tuple[Piece, ...]]]:
    """Gather pieces into messages: each prompt is one, all that follows it another."""
    waiting: list[Piece] = []
    first = True
    for piece in _pieces(texts, start, end):
        if piece.speaker != "user":
            waiting.append(piece)
            continue
        if waiting:
            yield _role(waiting, first), tuple(waiting)
        yield "user", (piece,)
        waiting, first = [], False
    if waiting:
        yield _role(waiting, first), tuple(waiting)


def _role(pieces: Sequence[Piece], first: bool) -> Role:
    banner = first and all(piece.speaker == "aider" for piece in pieces)
    return "system" if banner else "assistant"


def _pieces(texts: Sequence[str], start: int, end: int) -> Iterator[Piece]:
    """Cut lines where the speaker changes; blank lines go with what is before them."""
    speaker: Speaker | None = None
    begin, blank = start, False
    for number in range(start, end):
        here = _speaker(texts[number])
        if here is None:
            blank = True
            continue
        if here != speaker or (blank and here == "user"):
            if speaker is not None:
                yield Piece(speaker, begin, number)
            speaker, begin = here, number
        blank = False
    if speaker is not None:
        yield Piece(speaker, begin, end)


def _speaker(text: str) -> Speaker | None:
    if not text.strip():
        return None
    if text.startswith(PROMPT):
        return "user"
    return "aider" if text.startswith(OUTPUT) else "model"


def _message(texts: Sequence[str], role: Role, pieces: Sequence[Piece]) -> Message:
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


def marked(text: str, speaker: Speaker) -> list[str]:
    """
    Return text as lines of a speaker, with a blank line behind them.

    A line of the model that looks like one of somebody else is moved in by a space.
    """
    if speaker != "model":
        mark = _MARKS[speaker]
        return [*(f"{mark}{line}  " for line in text.split("\n")), ""]
    foreign = (PROMPT, OUTPUT, START)
    return [*(f" {t}" if t.startswith(foreign) else t for t in text.split("\n")), ""]
