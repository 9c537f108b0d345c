"""A survey in words: Markdown, for people and for models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from foldline.agents.maintainer.survey.codebase import CodebaseSurvey
from foldline.tools.terminal.refusal import visible

Part: TypeAlias = Literal["structure", "hot", "markers", "complexity", "tests", "troubles"]

PARTS: Final[tuple[Part, ...]] = (
    "structure", "hot", "complexity", "markers", "tests", "troubles",
)  # fmt: skip


def render_survey(found: CodebaseSurvey, parts: Sequence[Part] = PARTS, *, most: int = 12) -> str:
    """
    Say what a survey found.

    Args:
        found: The survey.
        parts: Which parts of it.
        most: Rows of each.
    """
    tell = {
        "structure": _structure,
        "hot": _hot,
        "complexity": _complexity,
        "markers": _markers,
        "tests": _tests,
        "troubles": _troubles,
    }
    texts = ("\n".join(tell[part](found, most)) for part in parts)
    return "\n\n".join(text for text in texts if text)


def _structure(found: CodebaseSurvey, most: int) -> Iterator[str]:
    yield f"## Structure\n{found.files:,} text files, {found.lines:,} lines."
    if not found.files:
        return
    shares = [
        f"{name} {lines / (found.lines or 1):.0%}"
        for name, lines in list(found.languages.items())[:6]
    ]
    yield f"Languages by lines: {', '.join(shares) or 'none'}.\n"
    biggest = sorted(found.folders.items(), key=lambda row: -row[1][1])[:most]
    yield from _rows(
        ("folder", "files", "lines"),
        ((name, f"{files:,}", f"{lines:,}") for name, (files, lines) in sorted(biggest)),
    )


def _hot(found: CodebaseSurvey, most: int) -> Iterator[str]:
    spots = [spot for spot in found.spots if spot.score > 0][:most]
    if not spots:
        return
    if not found.history.seen:
        yield "## Largest files"
        yield from _rows(("file", "lines"), ((s.path, f"{s.lines:,}") for s in spots))
        return
    yield f"## Hot spots\nCommits x lines, over the last {found.history.seen:,} commits.\n"
    yield from _rows(
        ("file", "heat", "lines", "commits", "people"),
        ((s.path, f"{s.score:.2f}", f"{s.lines:,}", s.commits, s.authors) for s in spots),
    )


def _complexity(found: CodebaseSurvey, most: int) -> Iterator[str]:
    shown = [one for one in found.complexity.functions if one.complexity > 1][:most]
    if not shown:
        return
    beyond = sum(one.complexity > 10 for one in found.complexity.functions)
    yield f"## Complex functions\n{beyond} with a cyclomatic complexity above 10.\n"
    yield from _rows(
        ("function", "place", "complexity", "lines"),
        ((one.name, f"{one.path}:{one.line}", one.complexity, one.lines) for one in shown),
    )


def _markers(found: CodebaseSurvey, most: int) -> Iterator[str]:
    if not found.markers:
        return
    yield f"## Left for later\nComments: {len(found.markers):,}.\n"
    for mark in found.markers[:most]:
        yield f"- {mark.kind} {visible(mark.path)}:{mark.line} {visible(mark.text)}".rstrip()


def _tests(found: CodebaseSurvey, most: int) -> Iterator[str]:
    lay = found.layout
    if not lay.code_files:
        return
    yield (
        f"## Tests\n{lay.test_files:,} test files, {lay.test_lines:,} lines: "
        f"{lay.ratio:.2f} for each line of code."
    )
    if lay.without:
        names = ", ".join(visible(path) for path in lay.without[:most])
        yield f"No test is named for {len(lay.without):,} files, the largest: {names}."


def _troubles(found: CodebaseSurvey, _: int) -> Iterator[str]:
    if found.troubles:
        yield "## Not looked at"
        yield from (f"- {visible(one)}" for one in found.troubles)


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(' --- ' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(visible(str(cell)).replace('|', '/') for cell in row)} |"
