"""
History rendering: the folded messages as plain text for a model, whole where they fit.

Every step is written after its handle and role, from the original messages instead of stubs.
If the text is too long, the longest steps are shortened to their most important lines, with their
handle; no step is omitted without a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from foldline.core.strategy import CompactionContext
from foldline.frozen import frozen, replace
from foldline.snapshot.excerpt import salient_lines
from foldline.snapshot.format import handle_at
from foldline.strategies.stubs import CLEARED, is_stub
from foldline.strategies.truncate import level
from foldline.values.handles import part_handle
from foldline.values.messages import Media, Message, Omitted, Part, Thinking, ToolCall, ToolResult
from foldline.values.part_text import call_text, result_text
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

HEAD_SHARE, TAIL_SHARE = 0.3, 0.35
"""Fractions of a shortened text for its beginning and its end; important lines get the rest."""

NOTE_TOKENS = 30
"""Size of the note in a shortened text, and of the note for omitted steps, in tokens."""

BRIEF = 16
"""Minimum tokens of a step; if there is less room for each, some share a note."""


@frozen
class HistoryPiece:
    """
    A step of the conversation, or a part of a long one.

    ``tokens`` is its size as a model reads it, with its heading.
    """

    handle: str
    role: str
    text: str
    tokens: int

    def read(self) -> str:
        """Write the piece as a model reads it."""
        return f"[{self.handle} {self.role}] {self.text}"


def pieces(view: View, context: CompactionContext, positions: Sequence[int]) -> list[HistoryPiece]:
    """Return the folded messages as pieces, oldest first, without earlier snapshots."""
    return [
        _measure(
            HistoryPiece(handle_at(view, context, position), message.role, text, 0), view.counter
        )
        for position in positions
        if not is_snapshot(view.messages[position])
        for message in (view.original(position),)
        for text in (_render_message(message, handle_at(view, context, position)),)
    ]


def _measure(piece: HistoryPiece, counter: TokenCounter) -> HistoryPiece:
    return replace(piece, tokens=counter.text(piece.read()) + 1)


def _render_message(message: Message, handle: str) -> str:
    lines = (
        _render_part(part, part_handle(handle, message, index))
        for index, part in enumerate(message.parts)
        if not isinstance(part, (Thinking, Omitted))
    )
    return "\n".join(line for line in lines if line) or "(nothing visible)"


def _render_part(part: Part, handle: str) -> str:
    match part:
        case ToolCall():
            return f"calls {call_text(part)}"
        case ToolResult():
            named = f"result of {part.name}" if part.name else "result"
            failed = ", an error" if part.is_error else ""
            media = "".join(f" [{c.kind}]" for c in part.content if isinstance(c, Media))
            return f"{named}{failed}: {_render_result(part.text, handle)}{media}"
        case _:
            return call_text(part)


def _render_result(text: str, handle: str) -> str:
    if not is_stub(text):
        return result_text(text)
    was = text.removeprefix(CLEARED).partition(";")[0]
    return f"[content cleared, handle {handle}: it had {was}]"


def fit_pieces(
    found: Sequence[HistoryPiece],
    counter: TokenCounter,
    values: Mapping[str, float],
    room: int,
    largest: int,
) -> list[HistoryPiece]:
    """
    Shorten pieces until they fit.

    Args:
        found: The pieces.
        counter: The token counter.
        values: Probability of use by item, to select the lines to keep of a long text.
        room: Maximum size of all pieces, in tokens.
        largest: Maximum size of one piece, in tokens; a longer one is divided.

    Returns:
        Pieces in the same order, in which every step is named.
    """
    total = sum(piece.tokens for piece in found)
    if total > room:
        cap = level([piece.tokens for piece in found], total - room)
        found = [_shorten(p, cap, counter, values) if p.tokens > cap else p for p in found]
        total = sum(piece.tokens for piece in found)
    if total > room:
        each = max(BRIEF, room // max(1, len(found)))
        found = [_shorten_to_words(piece, each, counter) for piece in found]
        total = sum(piece.tokens for piece in found)
    if total > room:
        found = list(_share_notes(found, counter, room))
    return [part for piece in found for part in _divide(piece, counter, largest)]


def _shorten(
    piece: HistoryPiece, tokens: int, counter: TokenCounter, values: Mapping[str, float]
) -> HistoryPiece:
    """Keep the beginning, the end, and the most important lines between them."""
    text, per_token = piece.text, len(piece.text) / max(1, piece.tokens)
    note = f"[… shortened from {piece.tokens:,} tokens; recall {piece.handle} …]"
    best = _shorten_to_words(piece, tokens, counter)
    for share in (1.0, 0.85, 0.7):
        room = (tokens - NOTE_TOKENS) * share
        first, last = int(room * HEAD_SHARE * per_token), int(room * TAIL_SHARE * per_token)
        if first <= 0 or last <= 0:
            break
        middle = text[first : len(text) - last]
        rest = room * (1 - HEAD_SHARE - TAIL_SHARE)
        lines = salient_lines(middle, rest, per_token, values)
        short = "\n".join((text[:first].rstrip(), note, *lines, "[…]", text[-last:].lstrip()))
        made = _measure(replace(piece, text=short), counter)
        if made.tokens <= tokens:
            return made
    return best


def _shorten_to_words(piece: HistoryPiece, tokens: int, counter: TokenCounter) -> HistoryPiece:
    """Keep the first words."""
    if piece.tokens <= tokens:
        return piece
    per_token = len(piece.read()) / max(1, piece.tokens)
    head = len(piece.read()) - len(piece.text)
    made = piece
    for share in (1.0, 0.7, 0.4, 0.0):
        characters = max(0, int(tokens * share * per_token) - head - 1)
        text = " ".join(piece.text[:characters].split()) + "…"
        made = _measure(replace(piece, text=text), counter)
        if made.tokens <= tokens:
            break
    return made


def _share_notes(
    found: Sequence[HistoryPiece], counter: TokenCounter, room: int
) -> Iterator[HistoryPiece]:
    """Replace steps without room by shared notes: the user's and the newest steps stay."""
    order = sorted(range(len(found)), key=lambda n: (found[n].role != "user", -n))
    kept, left = set[int](), room
    for number in order:
        # No note is needed between a step and a kept neighbour.
        left -= found[number].tokens + (0 if number + 1 in kept else NOTE_TOKENS)
        if left < NOTE_TOKENS:
            break
        kept.add(number)
    for stays, run in groupby(range(len(found)), kept.__contains__):
        steps = [found[number] for number in run]
        yield from steps if stays else [_note(steps, counter)]


def _note(run: Sequence[HistoryPiece], counter: TokenCounter) -> HistoryPiece:
    text = f"to {run[-1].handle}: {len(run):,} steps that are not shown here"
    return _measure(HistoryPiece(run[0].handle, "…", text, 0), counter)


def _divide(piece: HistoryPiece, counter: TokenCounter, largest: int) -> Iterator[HistoryPiece]:
    if piece.tokens <= largest:
        yield piece
        return
    count = -(-piece.tokens // max(1, largest - NOTE_TOKENS))
    size = max(1, -(-len(piece.text) // count))
    for start in range(0, len(piece.text), size):
        role = piece.role if start == 0 else f"{piece.role}, continued"
        text = piece.text[start : start + size]
        yield _measure(HistoryPiece(piece.handle, role, text, 0), counter)


def chunk(
    found: Sequence[HistoryPiece], capacity: int
) -> tuple[list[HistoryPiece], list[HistoryPiece]]:
    """Return the first pieces that fit into a request, at least one, and the rest."""
    used = 0
    for number, piece in enumerate(found):
        used += piece.tokens
        if used > capacity and number:
            return list(found[:number]), list(found[number:])
    return list(found), []
