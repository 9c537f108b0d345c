"""Recall something that a compaction removed, exactly, in portions that fit a context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from foldline.core.errors import RecallError
from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Message
from foldline.core.tokens import TokenCounter
from foldline.recall.content import message_text, part_of, part_raw, part_text
from foldline.recall.resolve import Named, parse, resolve
from foldline.recall.slices import at_path, chosen, numbered, page_end, search


@dataclass(frozen=True, slots=True)
class Folded:
    """The ids of what a snapshot stands for, and how long the log was when it was made."""

    messages: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """
    What can be recalled.

    ``messages`` is the log by id, in order, and ``snapshots`` everything that stands or stood for
    messages of it. ``moments`` are the lengths of the log when handles were given out.
    """

    messages: Mapping[str, Message]
    snapshots: Mapping[str, Folded] = field(default_factory=dict)
    moments: tuple[int, ...] = ()

    def born(self, prefix: str = "") -> dict[str, int]:
        """
        Return how long the log was when each of these came into it, by id.

        Args:
            prefix: How the ids begin that are wanted.
        """
        log = enumerate(self.messages, 1)
        born = {number: index for index, number in log if number.startswith(prefix)}
        folds = self.snapshots.items()
        return born | {n: folded.at for n, folded in folds if n.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Recalled:
    """
    What was kept under a handle.

    ``text`` is what was asked for of it, ``raw`` the wire original, always whole: a message or
    part, or for a snapshot the list of the messages that it stands for. ``note`` says in a
    sentence what ``text`` leaves out and how to get it, and is empty when it leaves out nothing.
    """

    handle: str
    message_id: str
    role: str
    text: str
    raw: Any = field(repr=False)
    note: str = ""


def recall(
    holdings: Holdings,
    handle: str,
    *,
    lines: str | None = None,
    grep: str | None = None,
    context: int = 2,
    path: str | None = None,
    start: int = 0,
    max_tokens: int | None = None,
    max_chars: int | None = None,
    counter: TokenCounter | None = None,
) -> Recalled:
    """
    Return what is kept under a handle.

    ``path``, ``lines`` and ``grep`` each narrow down what the one before left.

    Args:
        holdings: What can be recalled.
        handle: A handle that a stub, a snapshot or a receipt names; ``.N`` behind it is a part.
        lines: ``A:B``, counted from 1, both ends included; negative from the end, ends may lack.
        grep: A regular expression; hits come with line numbers.
        context: Lines around a hit.
        path: A JSON path into content that is JSON.
        start: Where the page begins, in characters of what was asked for.
        max_tokens: The most that the page may take, in tokens; needs ``counter``.
        max_chars: The same in characters.
        counter: Counts tokens.

    Raises:
        RecallError: The handle, the range, the pattern or the path names nothing.
    """
    # Where nothing begins so, all ids are wanted, to name those that are near.
    born = holdings.born(parse(handle)[0]) or holdings.born()
    named = resolve(handle, born, holdings.moments)
    role, text, raw = _original(holdings, named)
    notes = []
    if path is not None:
        text = at_path(text, path)
    if lines is not None or grep is not None:
        picked = numbered(text)
        total = len(picked)
        if lines is not None:
            picked = chosen(picked, lines)
            notes.append(f"Lines {picked[0][0]:,} to {picked[-1][0]:,} of {total:,}.")
        text = "\n".join(line for _, line in picked)
        if grep is not None:
            hits = search(picked, grep, context)
            more = "" if hits.complete else " at least; narrow the pattern to see the others"
            notes.append(f"{hits.count:,} matching lines{more}.")
            text = hits.text
    text, cut = _page(text, start, max_tokens, max_chars, counter)
    return Recalled(handle, named.id, role, text, raw, " ".join(filter(None, [*notes, cut])))


def _original(holdings: Holdings, named: Named) -> tuple[str, str, Any]:
    message = holdings.messages.get(named.id)
    if message is None:
        return _folded(holdings, named)
    if named.part is None:
        return message.role, message_text(message), message.raw
    return message.role, part_text(part_of(message, named.part)), part_raw(message, named.part)


def _folded(holdings: Holdings, named: Named) -> tuple[str, str, Any]:
    messages = [holdings.messages[number] for number in _flat(holdings, named.id)]
    if named.part is not None:
        raise RecallError(
            f"{named.id[:HANDLE_LENGTH]} is a snapshot, which has no parts.",
            hint="Leave out what follows the dot.",
        )
    texts = (f"[{m.id[:HANDLE_LENGTH]} {m.role}]\n{message_text(m)}" for m in messages)
    return "snapshot", "\n\n".join(texts), [message.raw for message in messages]


def _flat(holdings: Holdings, number: str) -> list[str]:
    """Return the messages that a snapshot stands for, those of snapshots within it included."""
    out: dict[str, None] = {}
    waiting, seen = [number], set()
    while waiting:
        current = waiting.pop()
        if current in holdings.messages:
            out[current] = None
        elif current not in seen:
            seen.add(current)
            folded = holdings.snapshots.get(current)
            waiting += folded.messages if folded else ()
    order = {key: index for index, key in enumerate(holdings.messages)}
    return sorted(out, key=order.__getitem__)


def _page(
    text: str,
    start: int,
    max_tokens: int | None,
    max_chars: int | None,
    counter: TokenCounter | None,
) -> tuple[str, str]:
    if min(start, *(n - 1 for n in (max_tokens, max_chars) if n is not None), 0) < 0:
        raise RecallError("start, max_tokens and max_chars must be positive.")
    if max_tokens is not None and counter is None:
        raise RecallError("max_tokens needs a counter.", hint="Give max_chars instead.")

    def fits(page: str) -> bool:
        if max_chars is not None and len(page) > max_chars:
            return False
        return max_tokens is None or counter is None or counter.text(page) <= max_tokens

    if start > len(text):
        raise RecallError(
            f"start={start} is past the end.", hint=f"It has {len(text):,} characters."
        )
    end = page_end(text, start, fits)
    if start == 0 and end == len(text):
        return text, ""
    rest = f" Go on with start={end}." if end < len(text) else ""
    return text[start:end], f"Characters {start:,} to {end:,} of {len(text):,}.{rest}"
