"""How tangled functions are, measured by the library lizard for some twenty languages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from foldline.agents.maintainer.survey.files import SurveyedFile, is_code
from foldline.errors import MissingExtra

LONGEST: Final = 200_000
"""Characters of a file that is measured."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its cyclomatic complexity (McCabe 1976), its lines without blanks."""

    path: str
    name: str
    line: int
    complexity: int
    lines: int
    parameters: int


@dataclass(frozen=True, slots=True)
class ComplexityReport:
    """Functions, the most complex first; ``files`` were measured, ``left`` were not, in time."""

    functions: tuple[Function, ...] = ()
    files: int = 0
    left: int = 0
    trouble: str = ""


def measure_complexity(
    sources: Iterable[SurveyedFile],
    seconds: float,
    *,
    keep: int = 500,
    clock: Callable[[], float] = time.monotonic,
) -> ComplexityReport:
    """
    Measure the functions of files, until the time is over.

    Args:
        sources: The files, what matters most first.
        seconds: The time for all of them.
        keep: So many functions are returned.
        clock: Returns seconds.
    """
    try:
        analyze = _lizard()
    except MissingExtra as error:
        return ComplexityReport(trouble=str(error))
    until, found, files, left = clock() + seconds, list[Function](), 0, 0
    for source in sources:
        if not is_code(source.path) or len(source.text) > LONGEST or source.generated:
            continue
        if clock() > until:
            left += 1
            continue
        files += 1
        found += _functions(analyze, source)
    found.sort(key=lambda one: (-one.complexity, -one.lines, one.path, one.line))
    return ComplexityReport(tuple(found[:keep]), files, left)


def _functions(analyze: Callable[[str, str], Any], source: SurveyedFile) -> list[Function]:
    try:
        result = analyze(source.path, source.text)
    except Exception:  # noqa: BLE001  # code that its parser cannot read is left out
        return []
    return [
        Function(
            source.path,
            str(one.name)[:200],
            int(one.start_line),
            int(one.cyclomatic_complexity),
            int(one.nloc),
            int(one.parameter_count),
        )
        for one in result.function_list
    ]


def _lizard() -> Callable[[str, str], Any]:
    try:
        import lizard  # type: ignore[import-untyped]  # it has no types
    except ImportError as error:
        raise MissingExtra("lizard", "maintain") from error
    analyze: Callable[[str, str], Any] = lizard.analyze_file.analyze_source_code
    return analyze
