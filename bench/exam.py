"""
The reading exam: which questions can a reader of the shortened history still answer?

    python bench/exam.py views OUT --at 0.10 --method NAME ...
        OUT/NAME/view-KK.txt and questions-KK.json of every session, and the instructions.
        Methods are Foldline, the ways in references.py, and the libraries in peers/roster.toml.
        A reader answers into OUT/NAME/answers.json: {"01": [{"n": 0, "answer": "..."}, ...], ...}
        With --accounts DIR, prompts of libraries that call a model are written there as *.prompt;
        a reader writes each account beside it as *.txt, and the second call makes the views.
    python bench/exam.py sheet OUT NAME ...
        OUT/sheet.json, with the answers to each question shuffled, and OUT/key.json.
        Another reader grades into OUT/grades.json: [{"id": 0, "a": 1, "b": 0.5}, ...]
    python bench/exam.py score OUT [--record METHOD --at 0.10]
        The scores; --record stores one in docs/benchmarks/exam.json. Answers are not stored,
        since they quote the sessions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cuts
from foldline.evaluation.findings import Estimate, estimate_clustered
from histories import histories, there
from views import method

RECORD = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "exam.json"
LETTERS = "abcdefghijkl"
GRADES = (0, 0.5, 1)
SEED = 1

READER = """\
In this folder there are pairs of view-KK.txt and questions-KK.json. A view is a shortened record
of a working session. Read the whole view, then answer every question from it alone: open nothing
else, do not guess, use no other knowledge of these projects. Give exact names, values and reasons
in one to three sentences, a part where the view tells a part, and null where it does not tell.
Write answers.json beside them: {"01": [{"n": 0, "answer": "..." or null}, ...], "02": [...]}.
"""
GRADER = """\
sheet.json is a list of {"id", "question", "known", "answer_a", ...}: known is the right answer,
the others are answers of readers to the same question. Grade each by itself: 1 if it tells what
the known answer tells, in whatever words; 0.5 if a substantial part is missing; 0 if it is null,
wrong or beside the point. Open no other file. Write grades.json: [{"id": 0, "a": 1, ...}, ...].
"""


def folder_of(name: str) -> str:
    """Return the folder name of a method."""
    return re.sub(r"\W+", "-", name).strip("-").lower()


def write_views(options: argparse.Namespace) -> None:
    """Write views and questions for readers."""
    found = histories(options.shared)
    if options.accounts:
        options.accounts.mkdir(parents=True, exist_ok=True)
    for name in options.method:
        folder = options.out / folder_of(name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "READER.md").write_text(READER, encoding="utf-8")
        with method(name, options.accounts) as make:
            for number, history in enumerate(found, 1):
                view = make(history, options.at)
                questions = [
                    {"n": n, "question": fact.question} for n, fact in enumerate(history.facts)
                ]
                (folder / f"view-{number:02d}.txt").write_text(view.text, encoding="utf-8")
                _write(folder / f"questions-{number:02d}.json", questions)
                print(f"{number:02d} {name}: {len(view.text):,} characters {view.problem}")


def write_sheet(options: argparse.Namespace) -> None:
    """Write the answers of readers on one sheet, blind: without their methods."""
    labels = [folder_of(name) for name in options.method]
    given = {label: _answers(options.out / label / "answers.json") for label in labels}
    shuffle = random.Random(SEED)  # noqa: S311  # no secret: the same sheet on every run
    sheet, key = [], []
    for number, history in enumerate(histories(options.shared), 1):
        session = f"{number:02d}"
        for place, fact in enumerate(history.facts):
            order = shuffle.sample(labels, len(labels))
            letters = dict(zip(LETTERS, order, strict=False))
            answers = {
                f"answer_{c}": given[label].get((session, place)) for c, label in letters.items()
            }
            row = {"id": len(sheet), "question": fact.question, "known": fact.answer}
            sheet.append(row | answers)
            key.append({"session": session, "kind": fact.kind, "map": letters})
    _write(options.out / "sheet.json", sheet)
    _write(options.out / "key.json", key)
    (options.out / "GRADER.md").write_text(GRADER, encoding="utf-8")
    print(f"{len(sheet)} questions on the sheet, {len(labels)} answers each")


def _answers(file: Path) -> dict[tuple[str, int], str | None]:
    answers = json.loads(file.read_text(encoding="utf-8"))
    return {
        (session, row["n"]): row["answer"] for session, rows in answers.items() for row in rows
    }


def scores(out: Path) -> dict[str, dict[str, Any]]:
    """
    Return the score, interval and scores by kind of every method.

    Raises:
        ValueError: A question has no grade, or an invalid one.
    """
    key = json.loads((out / "key.json").read_text(encoding="utf-8"))
    grades = {row["id"]: row for row in json.loads((out / "grades.json").read_text("utf-8"))}
    sessions: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    kinds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(key):
        for letter, label in row["map"].items():
            grade = grades.get(number, {}).get(letter)
            if grade not in GRADES:
                raise ValueError(f"question {number}, answer {letter}: invalid grade {grade!r}")
            sessions[label][row["session"]].append(grade)
            kinds[label][row["kind"]].append(grade)
    found = {}
    for label, by in sessions.items():
        one = estimate_clustered(by)
        assert one is not None
        found[label] = {
            "score": round(one.mean, 3),
            "low": round(one.low, 3),
            "high": round(one.high, 3),
            "questions": one.count,
            "sessions": len(by),
            "kinds": {k: round(sum(v) / len(v), 3) for k, v in sorted(kinds[label].items())},
        }
    return found


def score(options: argparse.Namespace) -> None:
    """Print the scores, and record the selected one."""
    found = scores(options.out)
    for label, one in found.items():
        mean = Estimate(one["score"], one["low"], one["high"], one["questions"])
        by = ", ".join(f"{kind} {value:.2f}" for kind, value in one["kinds"].items())
        print(f"{label}: {mean} of {one['questions']} questions\n   {by}")
    if options.record:
        known = json.loads(options.into.read_text(encoding="utf-8"))
        recalls = {"calls": options.calls, "tokens_a_call": options.tokens_a_call}
        name, one = _chosen(found, options.record)
        row = recorded(known, name, options.at, one | recalls, part=options.part)
        _write(options.into, row)
        print(f"{options.into.name}: {name} at {options.at:g}")


def _chosen(found: dict[str, dict[str, Any]], selected: str) -> tuple[str, dict[str, Any]]:
    """Find the score to record: NAME, LABEL=NAME, or the only one."""
    label, given, name = selected.partition("=")
    label, name = (label, name) if given else (folder_of(selected), selected)
    if not given and len(found) == 1:
        return name, next(iter(found.values()))
    if label not in found:
        raise ValueError(f"no method {label}; give LABEL=NAME with one of {', '.join(found)}")
    return name, found[label]


def recorded(
    known: dict[str, Any], name: str, at: float, one: dict[str, Any], *, part: bool = False
) -> dict[str, Any]:
    """
    Return the record with the row of a method at a share of the tokens, new or replaced.

    A ``part`` of the questions is recorded with their number.

    Raises:
        ValueError: It covers other questions.
    """
    one = dict(one)
    for of in ("questions", "sessions"):
        if part and one[of] < known[of]:
            continue
        if one.pop(of) != known[of]:
            raise ValueError(f"the exam is recorded over {known[of]} {of}, this one covers others")
    rest = [row for row in known["rows"] if (row["method"], row["at"]) != (name, at)]
    row = {"method": name, "at": at, **one}
    return {**known, "taken": f"{datetime.now(UTC):%Y-%m-%d}", "rows": [*rest, row]}


def _write(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(required=True)
    for name, run in (("views", write_views), ("sheet", write_sheet), ("score", score)):
        step = steps.add_parser(name)
        step.set_defaults(run=run)
        step.add_argument("out", type=Path)
        step.add_argument("--shared", type=Path, default=cuts.SHARED)
        if name == "sheet":
            step.add_argument("method", nargs="+")
        else:
            step.add_argument("--at", type=float, default=0.1, help="share of the tokens (0.1)")
        if name == "views":
            step.add_argument("--method", nargs="+", required=True)
            step.add_argument("--accounts", type=Path, help="a folder for prompts and accounts")
        if name == "score":
            step.add_argument("--record", metavar="METHOD", help="NAME, or LABEL=NAME")
            step.add_argument("--into", type=Path, default=RECORD, help=argparse.SUPPRESS)
            step.add_argument("--part", action="store_true", help="taken over some sessions only")
            step.add_argument("--calls", type=int, help="recalls of a reader who might recall")
            step.add_argument("--tokens-a-call", type=float)
    return parser


def main() -> None:
    options = arguments().parse_args()
    if options.run is not score and not there(options.shared):
        sys.exit(f"NOT TAKEN: no facts or no sessions in {options.shared}.")
    try:
        options.run(options)
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"exam: {error}")


if __name__ == "__main__":
    main()
