"""Survey a codebase without a model (files, lines, hot spots, tests), and render the result."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, Final, Literal, TypeAlias, get_args

from foldline.agents.checkpoint import git_head
from foldline.agents.maintainer import measures
from foldline.core.validation import positive, whole
from foldline.errors import FoldlineError
from foldline.frozen import field, frozen
from foldline.rooted_files import Root
from foldline.tools.sensitive import is_sensitive
from foldline.tools.terminal.order import TerminalLimits
from foldline.tools.terminal.refusal import visible
from foldline.tools.terminal.terminal import Terminal

TESTED: Final = 20
"""The number of lines above which a code file is expected to have a test."""

UNTESTED: Final = 200
"""The maximum number of untested files that are listed."""

_FOLDERS: Final = frozenset(("test", "tests", "spec", "specs", "__tests__"))
_NAMES: Final = re.compile(
    r"test_.+|.+_tests?|.+[.-](test|spec)|.+(Test|Tests|Spec)|conftest", re.ASCII
)


@frozen
class Layout:
    """
    Tests and code, in files and lines.

    ``without`` are code files of some size without a test file named after them, the largest
    first. Names are only a hint: other tests may cover them.
    """

    test_files: int = 0
    test_lines: int = 0
    code_files: int = 0
    code_lines: int = 0
    folders: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def ratio(self) -> float:
        """The lines of tests per line of code."""
        return self.test_lines / self.code_lines if self.code_lines else 0.0


def is_test(path: str) -> bool:
    """Return True if a file is a test, by its name and folders."""
    whole = PurePosixPath(path)
    in_folder = any(part.lower() in _FOLDERS for part in whole.parts[:-1])
    return measures.is_code(path) and (in_folder or _NAMES.fullmatch(whole.stem) is not None)


def measure_layout(sources: Iterable[measures.SurveyedFile]) -> Layout:
    """Measure tests and code."""
    code = [one for one in sources if measures.is_code(one.path)]
    tests = [one for one in code if is_test(one.path)]
    rest = [one for one in code if not is_test(one.path)]
    named = {_subject(one.path) for one in tests}
    without = [one for one in rest if one.lines >= TESTED and not _names(one.path) & named]
    without.sort(key=lambda one: (-one.lines, one.path))
    folders = sorted({str(PurePosixPath(one.path).parent) for one in tests})
    test_lines, code_lines = (sum(one.lines for one in group) for group in (tests, rest))
    paths = tuple(one.path for one in without[:UNTESTED])
    return Layout(len(tests), test_lines, len(rest), code_lines, tuple(folders[:50]), paths)


def _subject(path: str) -> str:
    stem = PurePosixPath(path).stem.lower()
    stem = re.sub(r"^test_|[._-](tests?|spec)$", "", stem)
    return re.sub(r"(tests?|spec)$", "", stem) or stem


def _names(path: str) -> set[str]:
    whole = PurePosixPath(path)
    names = {whole.stem, whole.parent.name} if whole.stem == "__init__" else {whole.stem}
    return {name.lower() for name in names}


MOST_MARKERS: Final = 1_000


@frozen
class SurveySettings:
    """
    Limits of a survey.

    At most ``files`` files of at most ``largest`` bytes each; the newest ``commits``; ``seconds``
    for the complexity of functions, 0 to skip it.

    Raises:
        BudgetError: A number is out of range.
    """

    files: int = 20_000
    largest: int = 1 << 20
    commits: int = 2_000
    seconds: float = 20.0

    def __post_init__(self) -> None:
        whole("survey.files", self.files, 1)
        whole("survey.largest", self.largest, 1)
        whole("survey.commits", self.commits, 1)
        positive("survey.seconds", self.seconds)


@frozen
class Spot:
    """
    A file that is large and changes often.

    ``score`` is the number of commits that changed it times its lines, as a fraction of the
    largest such product here (change frequency x size: Tornhill, Your Code as a Crime Scene,
    2015). Without a history it goes by the lines alone.
    """

    path: str
    score: float
    lines: int
    commits: int
    authors: int


@frozen
class CodebaseSurvey:
    """
    The result of a survey.

    ``languages`` are lines by language, ``folders`` files and lines by folder, ``sizes``
    the lines and ``hashes`` the SHA-256 of each file by path. ``troubles`` lists what could not
    be read, and why.
    """

    root: str
    head: str = ""
    files: int = 0
    lines: int = 0
    languages: Mapping[str, int] = field(default_factory=dict)
    folders: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    spots: tuple[Spot, ...] = ()
    markers: tuple[measures.Marker, ...] = ()
    layout: Layout = field(default_factory=Layout)
    history: measures.FileHistory = field(default_factory=measures.FileHistory)
    complexity: measures.ComplexityReport = field(default_factory=measures.ComplexityReport)
    troubles: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values, without the sizes and hashes of the files."""
        out = asdict(self)
        del out["sizes"], out["hashes"]
        out["history"] = {"commits": self.history.seen, "newest": self.history.newest}
        out["layout"]["ratio"] = round(self.layout.ratio, 3)
        return out


def survey_codebase(
    path: str | os.PathLike[str], settings: SurveySettings | None = None
) -> CodebaseSurvey:
    """
    Survey a codebase without a model.

    Args:
        path: The folder of the codebase.
        settings: The limits of the survey.

    Raises:
        StoreError: The folder does not exist.
    """
    chosen, root = settings or SurveySettings(), Root(path)
    found = list(measures.read_files(root, chosen.files, chosen.largest))
    past = _read_history(root, chosen)
    spots = hot_spots(found, past)
    rank = {spot.path: number for number, spot in enumerate(spots)}
    functions = measures.ComplexityReport(trouble="it was not requested")
    if chosen.seconds:
        ordered = sorted(found, key=lambda one: (is_test(one.path), rank.get(one.path, len(rank))))
        functions = measures.measure_complexity(ordered, chosen.seconds)
    paths = measures.list_paths(root.path, chosen.files)
    secret = [path for path in paths if is_sensitive(path.split("/"))]
    troubles = []
    if secret:
        troubles.append(f"{len(secret):,} that may hold secrets, such as {secret[0]}")
    if past.trouble:
        troubles.append(f"no history: {past.trouble}")
    if functions.trouble:
        troubles.append(f"no complexity: {functions.trouble}")
    if functions.left:
        troubles.append(f"the complexity of {functions.left:,} files, due to the time limit")
    marks = [mark for one in found if not one.generated for mark in measures.find_markers(one)]
    sizes = {one.path: one.lines for one in found}
    return CodebaseSurvey(
        root=str(root.path),
        head=git_head(root.path),
        files=len(found),
        lines=sum(sizes.values()),
        languages=_languages(found),
        folders=_folders(found),
        sizes=sizes,
        hashes={one.path: one.hash for one in found},
        spots=spots[:200],
        markers=tuple(marks[:MOST_MARKERS]),
        layout=measure_layout(found),
        history=past,
        complexity=functions,
        troubles=tuple(troubles),
    )


def hot_spots(
    found: Sequence[measures.SurveyedFile], past: measures.FileHistory
) -> tuple[Spot, ...]:
    """Return the code files, the hottest first; see `Spot`."""
    code = [one for one in found if measures.is_code(one.path) and not one.generated]
    times = {one.path: past.commits.get(one.path, 0) if past.seen else 1 for one in code}
    largest = max((times[one.path] * one.lines for one in code), default=0) or 1
    spots = []
    for one in code:
        spot = Spot(
            path=one.path,
            score=round(times[one.path] * one.lines / largest, 4),
            lines=one.lines,
            commits=past.commits.get(one.path, 0),
            authors=past.authors.get(one.path, 0),
        )
        spots.append(spot)
    return tuple(sorted(spots, key=lambda one: (-one.score, -one.lines, one.path)))


def _read_history(root: Root, settings: SurveySettings) -> measures.FileHistory:
    folders = (root.path, *root.path.parents)
    top = next((folder for folder in folders if (folder / ".git").exists()), None)
    if top is None:
        return measures.FileHistory(trouble="the folder is not under git")
    try:
        limits = TerminalLimits(seconds=60.0, output=32 << 20, visible_output=32 << 20)
        terminal = Terminal.open(top, limits=limits)
        return measures.read_history(
            terminal, settings.commits, root.path.relative_to(top).as_posix()
        )
    except FoldlineError as error:
        return measures.FileHistory(trouble=str(error))


def _languages(found: Sequence[measures.SurveyedFile]) -> dict[str, int]:
    count: Counter[str] = Counter()
    for one in found:
        count[one.language or "other"] += one.lines
    return dict(count.most_common())


def _folders(found: Sequence[measures.SurveyedFile], depth: int = 3) -> dict[str, tuple[int, int]]:
    """Count files and lines by folder; deeper folders count for the folder above."""
    count: dict[str, tuple[int, int]] = {}
    for one in found:
        name = "/".join(PurePosixPath(one.path).parts[:-1][:depth]) or "."
        files, lines = count.get(name, (0, 0))
        count[name] = (files + 1, lines + one.lines)
    return dict(sorted(count.items()))


# --- in words ------------------------------------------------------------------------------

# In the order in which they are rendered.
Part: TypeAlias = Literal["structure", "hot", "complexity", "markers", "tests", "troubles"]


def render_survey(
    found: CodebaseSurvey, parts: Sequence[Part] = get_args(Part), *, most: int = 12
) -> str:
    """
    Render a survey as Markdown.

    Args:
        found: The survey.
        parts: The parts to include.
        most: The maximum number of rows of each part.
    """
    texts = ("\n".join(PARTS[part](found, most)) for part in parts)
    return "\n\n".join(text for text in texts if text)


def _structure(found: CodebaseSurvey, most: int) -> Iterator[str]:
    yield f"## Structure\n{found.files:,} text files, {found.lines:,} lines."
    if not found.files:
        return
    most_used = list(found.languages.items())[:6]
    shares = [f"{name} {lines / (found.lines or 1):.0%}" for name, lines in most_used]
    yield f"Languages by lines: {', '.join(shares) or 'none'}.\n"
    biggest = sorted(found.folders.items(), key=lambda row: -row[1][1])[:most]
    rows = ((name, f"{files:,}", f"{lines:,}") for name, (files, lines) in sorted(biggest))
    yield from _rows(("folder", "files", "lines"), rows)


def _hot(found: CodebaseSurvey, most: int) -> Iterator[str]:
    spots = [spot for spot in found.spots if spot.score > 0][:most]
    if not spots:
        return
    if not found.history.seen:
        yield "## Largest files"
        yield from _rows(("file", "lines"), ((s.path, f"{s.lines:,}") for s in spots))
        return
    yield f"## Hot spots\nCommits x lines, over the last {found.history.seen:,} commits.\n"
    rows = ((s.path, f"{s.score:.2f}", f"{s.lines:,}", s.commits, s.authors) for s in spots)
    yield from _rows(("file", "heat", "lines", "commits", "people"), rows)


def _complexity(found: CodebaseSurvey, most: int) -> Iterator[str]:
    functions = [one for one in found.complexity.functions if one.complexity > 1][:most]
    if not functions:
        return
    beyond = sum(one.complexity > 10 for one in found.complexity.functions)
    yield f"## Complex functions\n{beyond} with a cyclomatic complexity above 10.\n"
    rows = ((one.name, f"{one.path}:{one.line}", one.complexity, one.lines) for one in functions)
    yield from _rows(("function", "place", "complexity", "lines"), rows)


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
    counts = f"{lay.test_files:,} test files, {lay.test_lines:,} lines"
    yield f"## Tests\n{counts}: {lay.ratio:.2f} for each line of code."
    if lay.without:
        names = ", ".join(visible(path) for path in lay.without[:most])
        yield f"{len(lay.without):,} files have no test named after them, the largest: {names}."


def _troubles(found: CodebaseSurvey, _: int) -> Iterator[str]:
    if found.troubles:
        yield "## Not surveyed"
        yield from (f"- {visible(one)}" for one in found.troubles)


PARTS: Final[Mapping[Part, Callable[[CodebaseSurvey, int], Iterator[str]]]] = {
    "structure": _structure,
    "hot": _hot,
    "complexity": _complexity,
    "markers": _markers,
    "tests": _tests,
    "troubles": _troubles,
}


def _rows(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join(' --- ' for _ in head)}|"
    for row in rows:
        yield f"| {' | '.join(visible(str(cell)).replace('|', '/') for cell in row)} |"
