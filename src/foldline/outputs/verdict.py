"""
The verdict of an output: the lines that say that something failed, and those that sum it up.

What failed must never look as if it had passed, however little of it is shown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from foldline.lazy import lazy_pattern
from foldline.relevance.alarms import lines_with

NEEDLES = (
    *("fail", "error", "traceback", "panic", "fatal", "exception", "exit", "not ok", "critical"),
    *("non-zero", "segmentation", "core dumped", "not found", "err!", "success", '"ok"', "severe"),
    *("✗", "✖", "✘", "错误", "失败", "异常", "崩溃", "致命"),
)
"""One of these, in lower case, stands in every line that says that something failed."""

_FAILURES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (
        ("fail", "error"),
        lazy_pattern(
            r"[0-9](?<![\w.-].)(?!(?<=0)0*\b)[\d,]* (?:\w+ )?"
            r"(?i:fail(?:ed|ing|ures?)|errors?)\b"
        ),
    ),
    (
        ("fail", "error", "fatal", "critical", "panic", "severe", "err!"),
        lazy_pattern(
            r"[CEFPS](?<![\w/.-].)(?<!\b0 .)(?<!\bno .)"
            r"(?:(?:(?<=F)(?:AIL(?:ED|URES?)?|ATAL)|(?<=C)RITICAL|(?<=P)ANIC|(?<=S)EVERE"
            r"|(?<=E)RR!)(?![\w/.-]|\s*[:=(]\s*0\b)"
            r"|(?<=E)RRORS?(?![\w/.-]|\s*[:=]\s*0\b))"
        ),
    ),
    (
        ("error:", "fatal:", "panic:", "]:"),
        lazy_pattern(
            r"[EFPefp](?<![^\s:\]].)(?:(?<=[Ee])(?i:rror)|(?<=[Ff])(?i:atal)|(?<=[Pp])(?i:anic))"
            r"(?:\[\w+\])?:(?!\s*(?:0|none|null|false)\b)"
        ),
    ),
    (
        ("fail", "error"),
        lazy_pattern(
            r"[EFef](?<!\S.)(?:(?<=[Ff])(?i:ail(?:ures?|ed))|(?<=[Ee])(?i:rrors?))\s*[:=]\s*[1-9]"
        ),
    ),
    (
        ("error", "exception"),
        lazy_pattern(
            r"^\s*(?:E\s+|Caused by:\s|Uncaught\s|Exception in thread \S+\s)?[\w.]*"
            r"(?:Error|Exception)\b(?::|$|\s\[)",
            re.MULTILINE,
        ),
    ),
    (
        ("exit",),
        lazy_pattern(
            r"[Ee](?<!\w.)(?i:xit(?:ed)?(?: with)?(?:[ _]?(?:code|status))?)"
            r"[\"']?[ :=]+-?[1-9]"
        ),
    ),
    (("traceback",), lazy_pattern(r"Traceback \(most recent")),
    (("panicked",), lazy_pattern(r"panicked at")),
    (("segmentation",), lazy_pattern(r"Segmentation fault")),
    (("core dumped",), lazy_pattern(r"core dumped")),
    (("non-zero",), lazy_pattern(r"non-zero exit")),
    (("not found",), lazy_pattern(r"command not found")),
    (("not ok",), lazy_pattern(r"^\s*not ok\b", re.MULTILINE)),
    (("... ", "...\t", "...\n"), lazy_pattern(r"\.\.\.\s(?:FAILED|failed|ERROR|FAIL)\b")),
    (
        (" failed",),
        lazy_pattern(
            r" failed\b(?:(?<=\bbuild failed)|(?<=\bjob failed)|(?<=\btests failed)"
            r"|(?<=\btest failed)|(?<=\bcompilation failed))"
        ),
    ),
    (
        ('"',),
        lazy_pattern(
            r'"(?:(?:status|state|result|outcome|conclusion|level)":\s*"'
            r'(?i:error|failed|failure|fatal)"'
            r'|(?:is_?error|isError|failed)":\s*true|(?:success|ok)":\s*false)'
        ),
    ),
)
"""
What says that something failed, by what has to stand there in lower case.

Each begins with a literal or a set of characters, which is searched for ten times as fast as
several patterns at once; what stands before that is looked at behind it.
"""

_FAILURES_ELSEWHERE = lazy_pattern(
    r"[✗✖✘]"
    r"|(?<![0无零])(?<!没有)(?:错误|失败|异常|崩溃|致命)(?!\s*+[数率]?+\s*+[:：=]?+\s*+0(?!\d))"
)

SUMMARY = lazy_pattern(
    r"""
      =+\ .*\b(?:passed|failed|errors?|skipped|no\ tests\ ran|warnings?)\b.*
    | \d+\ (?:passed|failed|errors?|skipped)\b.*
    | Ran\ \d+\ tests? | (?:OK|FAILED)(?:$|\ \() | test\ result: | (?:FAIL|PASS)$
    | \s*(?:Tests|Test\ Suites|Test\ Files|Suites)(?::|\s)\s*\d
    | \s*\d+\ (?:passing|failing|pending)\b | \#\ (?:tests|pass|fail)\b
    | error:\ could\ not\ compile | (?:warning|error):.{0,200}\ (?:generated|emitted|aborting)
    | (?:added|removed|changed|up\ to\ date,?\ audited)\ \d+\ packages?
    | Successfully\ (?:installed|uninstalled|built)\b
    | (?i:total|summary|totals|finished|found\ \d+|build\ (?:failed|succe)|exit\ code)\b
    | \[?(?i:process\ exited|exited?|exit\ code|command\ (?:failed|exited))\b
    | \(\d+\ rows?\)
    """,
    re.VERBOSE,
)

COUNTED = lazy_pattern(r"[0-9](?<!\w.)\d* (?:files?|director|vulnerabilit|problems?\b)")
_COUNTED_ELSEWHERE = lazy_pattern(r"(?:共|总计|合计|总共)\s*+[:：]?+\s*+\d")
_NUMBERED = lazy_pattern(
    r"(?: {1,8}(?=\d{1,6}\t)|[ \t]{0,8}(?!\d{1,6}\t))"
    r"(?P<number>\d{1,6})(?P<sign>→|\t|[-:](?!\d)|[ \t]\|[ \t])"
)
"""What a reader puts before the lines of a file; a number before a tab only where it is padded."""

_HUNK = lazy_pattern(r"(?m)^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@.*\n")
"""What stands above lines of a diff, with how many of them are old and new."""

_OLD, _NEW, _IN_DIFF = "- \n", "+ \n", tuple("+- \n\\")
"""How old, new and all lines of a diff begin; of an empty one the blank may be cut."""

_COMMENT = lazy_pattern(r"\s*//(?![\w@][\w./@+-]{0,300}:\w)")
"""How a comment begins, which is no label of a build."""

TRIES = 400
"""How many places are looked at for a line that says that something failed."""


NEAR = 300
"""Characters to either side of a place that are looked at."""


def is_failure(line: str) -> bool:
    """Tell whether a line says that something failed."""
    seen = line[: 2 * NEAR]
    lowered = seen.lower()
    for needles, pattern in _FAILURES:
        if any(map(lowered.__contains__, needles)) and pattern.search(seen):
            return True
    return not seen.isascii() and _FAILURES_ELSEWHERE.search(seen) is not None


def is_summary(line: str) -> bool:
    """Tell whether a line sums an output up."""
    if len(line) > NEAR:
        return False
    if SUMMARY.match(line) or COUNTED.search(line):
        return True
    return not line.isascii() and _COUNTED_ELSEWHERE.search(line) is not None


def failing_lines(lines: Sequence[str]) -> set[int]:
    """Find all lines that say that something failed."""
    near = lines_with(list(map(_lower, lines)), NEEDLES)
    return {place for place in near if is_failure(lines[place])}


def failures(text: str, most: int = 3) -> list[tuple[int, int]]:
    """
    Find the first lines of a text that say that something failed.

    Args:
        text: Any text.
        most: How many lines.

    Returns:
        Where they start and end, in order.
    """
    return [(start, stop) for start, stop, _ in islice(_failing(text), most)]


def _failing(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where lines that say that something failed start and end, and what says so stands."""
    for place in _places(_lower(text)):
        start, stop = _line(text, place)
        if _says_so(text, start, stop, place):
            yield start, stop, place


def last_failure(text: str) -> tuple[int, int] | None:
    """Find the last line of a text that says that something failed."""
    lowered = _lower(text)
    behind = {needle: lowered.rfind(needle) for needle in NEEDLES}
    for _ in range(TRIES):
        place = max(behind.values())
        if place < 0:
            return None
        start, stop = _line(text, place)
        if _says_so(text, start, stop, place):
            return start, stop
        for needle, known in behind.items():
            if known >= start:
                behind[needle] = lowered.rfind(needle, 0, start)
    return None


def first_failure(text: str) -> tuple[str, int]:
    """
    Find the first line that says that something failed.

    A comment is none, nor a line of a diff or of a file that is shown with numbers.

    Returns:
        The line, a giant one around that place, and where it ends; "" and 0 if there is none.
    """
    start = stop = shown = 0
    diffs = _find_diffs(text) if "@@ -" in text else []
    for start, stop, place in _failing(text):
        if not _is_shown(text, start, stop, diffs):
            near = text[max(start, place - NEAR) : min(stop, place + NEAR)]
            whole_words = near.partition(" ")[2] if place - NEAR > start else near
            return (whole_words if is_failure(whole_words) else near).strip(), stop
        shown += 1
    # So many lines are shown that what comes behind them was not looked at.
    last = last_failure(text) if shown else None
    if last is None or last[1] == stop or _is_shown(text, *last, diffs):
        return "", 0
    return text[slice(*last)][-2 * NEAR :].strip(), last[1]


def _find_diffs(text: str) -> list[tuple[int, int]]:
    """Return where the lines of every part of a diff begin and end."""
    found: list[tuple[int, int]] = []
    for hunk in _HUNK.finditer(text):
        old, new = (int(count or 1) for count in hunk.groups())
        place = hunk.end()
        while (old > 0 or new > 0) and text[place : place + 1] in _IN_DIFF:
            old -= text[place] in _OLD
            new -= text[place] in _NEW
            place = text.find("\n", place) + 1 or len(text)
        found.append((hunk.start(), place))
    return found


def _is_shown(text: str, start: int, stop: int, diffs: Sequence[tuple[int, int]]) -> bool:
    """
    Return True if a line is a comment, of a diff, or has a number and one beside it the next.

    Where a report may be numbered in that way, too, both lines beside it have to be.
    """
    before = bisect_right(diffs, (start, len(text))) - 1
    if before >= 0 and start < diffs[before][1]:
        return True
    if _COMMENT.match(text, start, stop):
        return True
    here = _NUMBERED.match(text, start, stop)
    if here is None:
        return False
    before = text.rfind("\n", 0, max(0, start - 1)) + 1
    beside = ((_NUMBERED.match(text, before), -1), (_NUMBERED.match(text, stop + 1), 1))
    enough = all if here["sign"] in "-:" else any
    return enough(
        other is not None
        and other["sign"] == here["sign"]
        and int(other["number"]) == int(here["number"]) + step
        for other, step in beside
    )


def failing_note(text: str, kept: Iterable[str]) -> str:
    """
    Say that an output reports failures, where none of the lines that are kept of it does.

    Args:
        text: The output.
        kept: What is shown of it.

    Returns:
        Words for the note about what is left out, "" where they are not needed.
    """
    if not failures(text, 1) or any(map(is_failure, kept)):
        return ""
    return ", with failures"


def _places(lowered: str) -> Iterator[int]:
    """Yield where needles stand, from the first on; one a line."""
    ahead = {needle: lowered.find(needle) for needle in NEEDLES}
    ahead = {needle: place for needle, place in ahead.items() if place >= 0}
    for _ in range(TRIES):
        if not ahead:
            return
        first = min(ahead.values())
        yield first
        after = lowered.find("\n", first)
        if after < 0:
            return
        for needle, place in list(ahead.items()):
            if place < after:
                further = lowered.find(needle, after)
                if further < 0:
                    del ahead[needle]
                else:
                    ahead[needle] = further


def _lower(text: str) -> str:
    """Write a text in lower case, unless letters would move by that."""
    if text.isascii():
        return text.encode("ascii").lower().decode("ascii")  # four times as fast
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


def _line(text: str, place: int) -> tuple[int, int]:
    stop = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if stop < 0 else stop


def _says_so(text: str, start: int, stop: int, place: int) -> bool:
    """Look at a line, at a giant one around the place only."""
    return is_failure(text[max(start, place - NEAR) : min(stop, place + NEAR)])
