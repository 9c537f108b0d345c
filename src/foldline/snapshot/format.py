"""
The text of a snapshot: how it is written, and how it is read again when it is folded itself.

Every row stands for itself: the handle of its step where there is more to recall, who speaks, and
the words; further lines of a row are indented by a blank.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from foldline.core.strategy import CompactionContext
from foldline.frozen import field, frozen
from foldline.lazy import lazy_pattern
from foldline.outputs.wrapping import COLOUR
from foldline.snapshot.phrases import (
    ACCOUNT,
    ENGLISH,
    FILES,
    OWN_ACCOUNT,
    STORY,
    TABLES,
    TITLES,
    Phrases,
    phrases_of,
    template_pattern,
)
from foldline.values.identity import HANDLE_LENGTH, derived_id
from foldline.values.snapshot_mark import seal
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

if TYPE_CHECKING:
    from foldline.snapshot.sources import Speaker

HANDLE_DIGITS: Final = 10
"""Of the id of a snapshot: no other message of a session begins so, however long it gets."""

_HANDLE = lazy_pattern(r"([0-9a-f]{6,32}(?:\.\d{1,6})?) ")
_HIDDEN = lazy_pattern("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")


@frozen
class SnapshotRow:
    """A statement of the story: its step's handle ("" where it needs none), speaker and words."""

    speaker: Speaker
    text: str
    handle: str = ""

    def write(self, phrases: Phrases = ENGLISH) -> str:
        """Return the row as it stands in a snapshot, "" where nobody would see its words."""
        front = f"{self.handle} " if self.handle else ""
        text = indent(self.text)
        return f"{front}{phrases.marks[self.speaker]}{text}" if text else ""


@frozen
class Parsed:
    """
    What an earlier snapshot says.

    ``messages`` and ``tokens`` are what it stands for, ``rows`` the account and the story, and
    ``state`` the lines of its other sections by name; these have the words of its language.
    """

    messages: int
    tokens: int
    rows: tuple[SnapshotRow, ...]
    state: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def handle_at(view: View, context: CompactionContext, position: int) -> str:
    """Return the handle of the message at a position."""
    number = view.messages[position].id
    return context.handles.get(number, number[:HANDLE_LENGTH])


def snapshot_id(messages: Iterable[str]) -> str:
    """Return the id of the snapshot of messages with these ids."""
    return derived_id("snapshot", *messages)


def indent(text: str) -> str:
    """Write a text so that none of its lines can pass for a row, a heading or a handle."""
    lines = _visible("\n".join(text.splitlines())).split("\n")
    return "\n ".join(filter(None, map(str.rstrip, lines)))


def one_line(text: str) -> str:
    """Write a text as one line without signs that nobody sees."""
    return " ".join(_visible(text).split())


def _visible(text: str) -> str:
    # A colour stands between two letters of a word as well as between two words.
    return _HIDDEN.sub(" ", COLOUR.sub("", text))


def header(messages: int, tokens: int, number: str, phrases: Phrases = ENGLISH) -> str:
    """
    Write the first line: what a snapshot is, that it is data, and how to recall what is not here.

    Args:
        messages: How many messages it stands for.
        tokens: What they take.
        number: Its id; under it everything that was folded can be searched, however often it is
            folded itself.
        phrases: The words of its language.
    """
    size = phrases.size.replace("{messages}", f"{messages:,}").replace("{tokens}", f"{tokens:,}")
    return phrases.header + size + phrases.recall.replace("{number}", number[:HANDLE_DIGITS])


def render(
    head: str, sections: Iterable[tuple[str, Iterable[str]]], phrases: Phrases = ENGLISH
) -> str:
    """
    Put a snapshot together.

    Args:
        head: The first line.
        sections: Names with finished lines; those without lines are left out.
        phrases: The words of its language.
    """
    return join(head, section_lines(sections, phrases))


def join(head: str, lines: Iterable[str]) -> str:
    """Put a snapshot together from its first line and all others."""
    return "\n".join(_seal_lines(head, lines))


def measure(head: str, lines: Iterable[str], counter: TokenCounter) -> int:
    """Return the size of what `join` returns, in tokens, without joining all of it."""
    sealed = _seal_lines(head, lines)
    return counter.joined(chain(sealed[:1], map("\n".__add__, islice(sealed, 1, None))))


def _seal_lines(head: str, lines: Iterable[str]) -> list[str]:
    first, *rest = head.split("\n", 1)
    sealed = [*rest, *lines]
    sealed.insert(0, seal(first, sealed))
    return sealed


def section_lines(
    sections: Iterable[tuple[str, Iterable[str]]], phrases: Phrases = ENGLISH
) -> Iterator[str]:
    """Yield the lines of sections with their titles."""
    for name, lines in sections:
        has_title = False
        for line in lines:
            if not has_title:
                yield f"## {phrases.titles[name]}"
                has_title = True
            yield line


def parse(text: str) -> Parsed:
    """Read a snapshot again, in whatever language it is, also one of version 0.1.0."""
    phrases = phrases_of(text)
    known, left_out = _SECTIONS[phrases.header], _LEFT_OUT[phrases.header]
    count = _COUNT[phrases.header].search(text[:400])
    messages, tokens = (int(n.replace(",", "")) for n in count.groups()) if count else (0, 0)
    sections: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.split("\n")[1:]:
        if line.startswith("## ") and line[3:] in known:
            lines = sections.setdefault(known[line[3:]], [])
        elif lines is not None and not left_out.fullmatch(line):
            lines.append(line)
    rows: list[SnapshotRow] = []
    state: dict[str, tuple[str, ...]] = {}
    for title, found in sections.items():
        if title in (ACCOUNT, OWN_ACCOUNT, _ACCOUNT_010):
            rows.append(
                SnapshotRow("summary", "\n".join(line.removeprefix(" ") for line in found))
            )
        elif title == STORY:
            story_lines = _add_handles(found) if _PARTS_010 in text[:400] else found
            rows += _rows(story_lines, "agent", phrases)
        elif title in _STORY_010:
            rows += _rows(found, _STORY_010[title], phrases)
        elif title == "Files":
            changed = (line for line in found if line.endswith(_CHANGED_010))
            state[FILES] = tuple(map(_without_handle, changed))
        else:
            state[title] = _entries(found)
    return Parsed(messages, tokens, tuple(rows), state)


def _entries(lines: Iterable[str]) -> tuple[str, ...]:
    """Join indented lines with the entry that they belong to."""
    found: list[str] = []
    for line in lines:
        if line.startswith(" ") and found:
            found[-1] += "\n" + line
        else:
            found.append(line)
    return tuple(found)


def _add_handles(lines: Iterable[str]) -> Iterator[str]:
    """Yield the story of 0.1.0, where results stood in the row of their call, as rows."""
    handle = ""
    for line in lines:
        match = _HANDLE.match(line)
        handle = match[0] if match else handle
        yield f"{handle}{line[1:]}" if line.startswith(f" {_RESULT_010}") else line


def _without_handle(line: str) -> str:
    match = _HANDLE.match(line)
    return line[match.end() :] if match else line


def _rows(lines: Iterable[str], speaker: Speaker, phrases: Phrases) -> list[SnapshotRow]:
    marks = phrases.marks.items()
    rows: list[SnapshotRow] = []
    for line in lines:
        if line.startswith(" ") and rows:
            rows[-1] = SnapshotRow(
                rows[-1].speaker, f"{rows[-1].text}\n{line[1:]}", rows[-1].handle
            )
            continue
        match = _HANDLE.match(line)
        handle, rest = (match[1], line[match.end() :]) if match else ("", line)
        row_speaker, mark = next((one for one in marks if rest.startswith(one[1])), (speaker, ""))
        if rest:
            rows.append(SnapshotRow(row_speaker, rest.removeprefix(mark), handle))
    return rows


_RESULT_010: Final = ENGLISH.marks["result"]
_PARTS_010: Final = "some of them parts of lines"
_CHANGED_010: Final = tuple(f" ({operation})" for operation in ENGLISH.operations)
_ACCOUNT_010: Final = "What happened, told by a model"
_STORY_010: Final[Mapping[str, Speaker]] = {
    "The user said": "user",
    "Open errors": "result",
    "Decisions": "agent",
}
_TITLES_010: Final = {title: title for title in (_ACCOUNT_010, *_STORY_010, "Files")}
_NUMBER: Final = r"(\d[\d,]{0,15})"
_SECTIONS: Final = {
    table.header: {
        **{table.titles[name]: name for name in TITLES},
        **(_TITLES_010 if table is ENGLISH else {}),
    }
    for table in TABLES
}
_LEFT_OUT: Final = {
    table.header: lazy_pattern(template_pattern(table.left_out, count=r"[\d,]{1,12}"))
    for table in TABLES
}
_COUNT: Final = {
    table.header: lazy_pattern(template_pattern(table.size, messages=_NUMBER, tokens=_NUMBER))
    for table in TABLES
}
