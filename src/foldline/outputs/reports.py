"""Reports of tests and builds: failures as they are told, passes counted, the summary kept."""

from __future__ import annotations

import re
from collections.abc import Sequence

from foldline.lazy import lazy_pattern
from foldline.outputs.condensed import Condensed
from foldline.outputs.verdict import SUMMARY, failing_lines

REPORT = lazy_pattern(
    r"""
      ^=+\ test\ session\ starts\ =+ | ^=+\ [^\n=]{0,200}\b(?:passed|failed)\b
    | ^Ran\ \d+\ tests?\ in\  | ^test\ result:\  | ^test\ \S+\ \.\.\.\ \w+
    | ^(?:---|===)\ (?:FAIL|PASS|RUN)\b | ^(?:ok|FAIL)\s+\S+\s+(?:\(cached\)|[\d.]+s)
    | ^[ \t]*(?:Tests|Test\ Suites|Test\ Files)(?::|\s\s)\s*\d | ^[ \t]*\d+\ (?:passing|failing)\b
    | ^(?:PASS|FAIL)\s+\S+ | ^TAP\ version\ \d+ | ^(?:not\ )?ok\ \d+\b
    | ^error(?:\[E\d+\])?:\  | ^npm\ (?:ERR!|error|warn)\  | ^[ \t]+Compiling\ \S+\ v
    | ^[ \t]*[✓✔✗✖×]\s
    """,
    re.VERBOSE | re.MULTILINE,
)

PASSED = (" PASSED", "... ok", "\u2713 ", "\u2714 ", "\u221a ", "--- PASS", "[       OK ]")
PASSED_AT = ("ok ", "PASS", "=== RUN", "=== PAUSE", "=== CONT", "\u2713", "\u2714")
"""What stands in a line that reports a pass, and what begins one."""

HEAD = lazy_pattern(
    r"""
      ^_{3,}\ .+\ _{3,}$ | ^=+\ .+\ =+$ | ^●\ | ^-{4}\ .+\ -{4}$ | ^--- FAIL
    | ^(?:FAIL|ERROR):\ \S+ | ^(?:error|warning)(?:\[\w+\])?: | ^\s*\d+\)\ | ^[✗✖×]\s
    | ^(?:FAIL|PASS)\s+\S+\.\w+
    """,
    re.VERBOSE,
)

_ASSERTION = lazy_pattern(
    r"E\s|>\s|FAILED\s|ERROR\s|left:|right:|-->|(?i:expected|received|actual|got|want)\b.{0,40}:"
    r"|expect\(|assert"
)

ABOUT = 60
"""Lines that belong to a failure at most."""

VERDICT, FAILED, ASSERTION, DETAIL, COUNT = 0.95, 0.5, 0.45, 0.12, 0.5
"""Worth of a summary, of a failure's name, of what was asserted, of what else is told of it."""


def is_report(sample: str) -> bool:
    """Return True if a text reports tests or a build."""
    return REPORT.search(sample) is not None


def report(lines: Sequence[str]) -> Condensed:
    """
    Judge the lines of a report.

    Args:
        lines: The lines.

    Returns:
        The lines, and one that counts the passes where there are many.
    """
    worth: dict[int, float] = {}
    heads: list[int] = []
    failed = failing_lines(lines)
    passes = 0
    left = 0
    for place, line in enumerate(lines):
        if line.startswith(PASSED_AT) or any(map(line.__contains__, PASSED)):
            passes += 1
            left = 0
            continue
        failing = place in failed
        if HEAD.match(line):
            heads.append(place)
            left = ABOUT if failing or line.startswith(("_", "●", "-", "error")) else left
        if SUMMARY.match(line, 0, 300):
            worth[place] = VERDICT
        elif _ASSERTION.match(line):
            worth[place] = ASSERTION
        elif failing:
            worth[place] = FAILED
        elif left > 0:
            worth[place] = DETAIL
        left -= 1
    if passes < 3:
        return Condensed("report", tuple(lines), worth, tuple(heads))
    worth[len(lines)] = COUNT
    note = f"[{passes:,} lines report a pass]"
    return Condensed("report", (*lines, note), worth, tuple(heads), notes=1)
