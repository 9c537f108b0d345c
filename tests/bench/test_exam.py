"""The reading exam: scores from grades, their record, and the section of the page."""

from __future__ import annotations

import json

import pytest
from tests.bench.fact_session import made_history

import exam
import exam_section

ROW = {
    "method": "Foldline 1, no model",
    "at": 0.1,
    "score": 0.7,
    "low": 0.6,
    "high": 0.8,
    "kinds": {"cause": 0.5},
    "calls": None,
    "tokens_a_call": None,
}
KNOWN = {"questions": 4, "sessions": 2, "taken": "2026-01-01", "rows": [ROW]}


@pytest.fixture
def graded(tmp_path):
    """Two methods over four questions of two sessions, letters in turn."""
    order = [("a", "b"), ("b", "a"), ("a", "b"), ("b", "a")]
    key = [
        {"session": f"0{n // 2}", "kind": kind, "map": {ours: "foldline", theirs: "tail"}}
        for n, ((ours, theirs), kind) in enumerate(zip(order, "ccdd", strict=True))
    ]
    grades = [
        {"id": n, ours: one, theirs: 0}
        for n, ((ours, theirs), one) in enumerate(zip(order, (1, 1, 0.5, 0), strict=True))
    ]
    (tmp_path / "key.json").write_text(json.dumps(key))
    (tmp_path / "grades.json").write_text(json.dumps(grades))
    (tmp_path / "exam.json").write_text(json.dumps(KNOWN))
    return tmp_path


def run(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["exam.py", *map(str, words)])
    exam.main()


def test_a_score_is_the_mean_of_the_grades_with_an_interval_over_sessions(graded):
    found = exam.scores(graded)
    assert found["tail"]["score"] == 0
    ours = found["foldline"]
    assert (ours["score"], ours["low"], ours["high"]) == (0.625, 0.25, 1)
    assert ours["kinds"] == {"c": 1, "d": 0.25}


def test_an_answer_without_a_grade_is_an_error(graded):
    (graded / "grades.json").write_text('[{"id": 0, "a": 1, "b": 0}]')
    with pytest.raises(ValueError, match="question 1, answer"):
        exam.scores(graded)


def test_a_recorded_row_is_replaced_and_holds_no_answer(graded, monkeypatch):
    into = graded / "exam.json"
    for name in ("foldline=Foldline 1, no model", "tail"):
        run(monkeypatch, "score", graded, "--record", name, "--at", "0.10", "--into", into)
    known = json.loads(into.read_text())
    assert [(row["method"], row["score"]) for row in known["rows"]] == [
        ("Foldline 1, no model", 0.625),
        ("tail", 0),
    ]
    assert all(row.keys() == ROW.keys() for row in known["rows"])
    assert known["taken"] > KNOWN["taken"]


def test_a_partial_exam_is_recorded_as_such_with_its_size(graded, monkeypatch):
    into = graded / "exam.json"
    into.write_text(json.dumps(KNOWN | {"questions": 180, "sessions": 12}))
    words = ("--part", "--calls", "3", "--tokens-a-call", "200", "--into", into)
    run(monkeypatch, "score", graded, "--record", "foldline=Foldline, recalling", *words)
    row = json.loads(into.read_text())["rows"][-1]
    assert (row["questions"], row["sessions"], row["calls"]) == (4, 2, 3)
    (scores, *_) = exam_section.exam_section(into).tables
    assert "Foldline, recalling (4 questions, 2 sessions)" in {cell[1] for cell in scores.rows}


def test_a_score_of_other_questions_is_not_recorded(graded, monkeypatch):
    into = graded / "exam.json"
    into.write_text(json.dumps(KNOWN | {"questions": 180}))
    with pytest.raises(SystemExit, match="180 questions"):
        run(monkeypatch, "score", graded, "--record", "foldline", "--into", into)


def test_a_sheet_hides_the_method_of_an_answer_and_its_key_has_it(tmp_path, monkeypatch):
    monkeypatch.setattr(exam, "histories", lambda _: [made_history()])
    monkeypatch.setattr(exam, "there", lambda _: True)
    run(monkeypatch, "views", tmp_path, "--method", "Foldline", "trim to the tail")
    for label in ("foldline", "trim-to-the-tail"):
        questions = json.loads((tmp_path / label / "questions-01.json").read_text())
        assert questions[0].keys() == {"n", "question"}
        answers = [{"n": one["n"], "answer": label} for one in questions]
        (tmp_path / label / "answers.json").write_text(json.dumps({"01": answers}))
    run(monkeypatch, "sheet", tmp_path, "Foldline", "trim to the tail")
    sheet = json.loads((tmp_path / "sheet.json").read_text())
    key = json.loads((tmp_path / "key.json").read_text())
    assert len({tuple(row["map"].values()) for row in key}) == 2
    for row, hidden in zip(sheet, key, strict=True):
        assert {c: row[f"answer_{c}"] for c in "ab"} == hidden["map"]


def test_the_page_shows_the_readers_the_date_and_the_number_of_questions(graded):
    section = exam_section.exam_section(graded / "exam.json")
    assert section is not None
    assert "4 questions about 2 recorded sessions, 2 each" in section.text
    assert "The readers and graders were models. Last taken on\n2026-01-01" in section.text
    assert section.tables[0].rows[0][:3] == ("10 %", ROW["method"], "0.700 (0.600–0.800)")
    assert [goal.held for goal in section.goals] == [False]


def test_a_damaged_record_is_an_error_and_a_missing_one_no_section(tmp_path):
    assert exam_section.exam_section(tmp_path / "none.json") is None
    (tmp_path / "exam.json").write_text('{"rows": [], "questions": 4}')
    with pytest.raises(ValueError, match="not a record of an exam"):
        exam_section.exam_section(tmp_path / "exam.json")
