"""The recorded reading exam, as a section of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from foldline.evaluation.findings import Estimate
from foldline.evaluation.sections import Cell, Goal, ReportSection, ReportTable

GOALS = {0.05: 0.70, 0.1: 0.85, 0.2: 0.92}
"""Goals of Foldline without a model, by share of the tokens."""

OURS, ALONE = "Foldline", "no model"
TEXT = """\
{questions} questions about {sessions} recorded sessions, {each} each: what is needed to continue
the work. Everything before a cut was shortened to a share of its tokens. A reader answered from
that text alone; another reader graded, with the known answers and without knowing the method: 1,
0.5 if a substantial part is missing, or 0. The readers and graders were models. Last taken on
{taken}. This is the figure that counts; everything below is a lower bound or a floor. Foldline
0.1.0 was fitted on identifiers in recorded sessions, these among them, and later versions on facts
of these very sessions: expect less on others. `bench/exam.py` makes views, questions and sheets;
only scores are stored."""


def exam_section(file: Path) -> ReportSection | None:
    """
    Return the section of the exam; None if none was recorded.

    Raises:
        ValueError: The record is damaged.
    """
    if not file.is_file():
        return None
    known = json.loads(file.read_text(encoding="utf-8"))
    try:
        rows = sorted(known["rows"], key=lambda row: float(row["at"]))
        each = known["questions"] // known["sessions"]
        tables = [_scores(rows), *_kinds([row for row in rows if row["kinds"]])]
        return ReportSection(
            "exam",
            "The reading exam",
            TEXT.format(each=each, **{k: known[k] for k in ("questions", "sessions", "taken")}),
            tuple(tables),
            goals=_goals(known["rows"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"{file.name} is not a record of an exam: {error}") from error


def _scores(rows: list[dict[str, Any]]) -> ReportTable:
    cells = [
        (_percent(row["at"]), _method(row), _score(row), row["calls"], row["tokens_a_call"])
        for row in rows
    ]
    note = (
        "Answered: the mean grade, in brackets the 95 % interval over sessions where it was "
        "recorded. Recalls and their tokens: of a reader who could recall what was removed."
    )
    columns = ("history cut to", "method", "answered", "recalls", "tokens a recall")
    return ReportTable("Questions answered", columns, tuple(cells), note)


def _method(row: dict[str, Any]) -> str:
    """Return the method, and for a partial exam its size."""
    if "questions" not in row:
        return str(row["method"])
    return f"{row['method']} ({row['questions']} questions, {row['sessions']} sessions)"


def _score(row: dict[str, Any]) -> str:
    low, high = row["low"], row["high"]
    ends = (row["score"], row["score"]) if low is None or high is None else (low, high)
    return str(Estimate(row["score"], *ends, 0))


def _kinds(rows: list[dict[str, Any]]) -> list[ReportTable]:
    if not rows:
        return []
    kinds = sorted({kind for row in rows for kind in row["kinds"]})
    cells: list[tuple[Cell, ...]] = [
        (_percent(row["at"]), _method(row), *(row["kinds"].get(kind) for kind in kinds))
        for row in rows
    ]
    return [ReportTable("The same by kind", ("history cut to", "method", *kinds), tuple(cells))]


def _goals(rows: list[dict[str, Any]]) -> tuple[Goal, ...]:
    """Compare the newest row of Foldline without a model with its goals."""
    newest = {
        row["at"]: row
        for row in rows
        if row["method"].startswith(OURS) and row["method"].endswith(ALONE)
    }
    return tuple(
        Goal(f"exam, {row['method']}, cut to {_percent(at)}", row["score"], "", least=GOALS[at])
        for at, row in sorted(newest.items())
        if at in GOALS
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %"
