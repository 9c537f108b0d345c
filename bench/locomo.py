"""
LoCoMo: conversations over many sessions, questions, and the turns with the evidence.

Maharana et al., ACL 2024; CC BY-NC 4.0. It is read from next to the checkout for evaluation only;
nothing of it is part of this project. Categories: 1 several turns, 2 dates, 3 inference, 4 one
turn, 5 what never happened (reported separately, as is usual).
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo" / "locomo7.json.gz"

DEPTHS = (5, 10, 20, 50)
BUDGETS = (1_000, 2_000, 4_000)
HEADLINE = (1, 2, 3, 4)


@dataclass(frozen=True)
class Turn:
    id: str
    session: str
    time: float
    speaker: str
    line: str
    tokens: int
    header: int


@dataclass(frozen=True)
class Question:
    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True)
class Talk:
    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(count: Callable[[str], int], path: Path = FILE) -> list[Talk]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [_talk(one, count) for one in json.load(file)]


def _talk(one: dict, count: Callable[[str], int]) -> Talk:
    said = one["conversation"]
    names = sorted(
        (name for name in said if re.fullmatch(r"session_\d+", name)),
        key=lambda name: int(name[8:]),
    )
    turns = tuple(turn for name in names for turn in _session(said, name, count))
    known = {turn.id for turn in turns}
    questions = (
        Question(row["question"], row["category"], _evidence(row, known)) for row in one["qa"]
    )
    return Talk(one["sample_id"], turns, tuple(q for q in questions if q.evidence))


def _session(said: dict, name: str, count: Callable[[str], int]) -> Iterable[Turn]:
    when = datetime.strptime(said[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(
        tzinfo=UTC
    )
    header = count(f"## {when:%Y-%m-%d %H:%M}\n")
    for turn in said[name]:
        photo = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        line = f"{turn['speaker']}: {turn['text']}{photo}"
        yield Turn(
            turn["dia_id"],
            name,
            when.timestamp(),
            turn["speaker"],
            line,
            count(line + "\n"),
            header,
        )


def _evidence(row: dict, known: set[str]) -> frozenset[str]:
    """Read the ids, some of which are written as 'D8:6; D9:17', 'D:11:26' or 'D30:05'."""
    pairs = (
        pair for text in row.get("evidence", ()) for pair in re.findall(r"D:?(\d+):(\d+)", text)
    )
    return frozenset(f"D{int(a)}:{int(b)}" for a, b in pairs) & known


def measured(talk: Talk, question: Question, ranked: Sequence[str]) -> list[float]:
    """Return recall at each depth, and whether all evidence fits into each budget."""
    evidence = question.evidence
    recall = [len(evidence & set(ranked[:depth])) / len(evidence) for depth in DEPTHS]
    return recall + [float(evidence <= _filled(talk, ranked, budget)) for budget in BUDGETS]


def _filled(talk: Talk, ranked: Sequence[str], budget: int) -> set[str]:
    """Fill a budget of tokens in the order of the ranking; a turn that does not fit is skipped."""
    turns = {turn.id: turn for turn in talk.turns}
    used, sessions, out = 0, set[str](), set[str]()
    for name in ranked:
        turn = turns[name]
        cost = turn.tokens + (0 if turn.session in sessions else turn.header)
        if used + cost <= budget:
            used += cost
            sessions.add(turn.session)
            out.add(name)
    return out


Ranking = Callable[[Talk], Callable[[str], Sequence[str]]]
"""Prepares a conversation, and returns a function that ranks its turns for a question."""


def evaluated(talks: Iterable[Talk], ranking: Ranking) -> dict[int, list[list[float]]]:
    """Return the measures of every question, by category."""
    out: dict[int, list[list[float]]] = {}
    for talk in talks:
        rank = ranking(talk)
        for question in talk.questions:
            out.setdefault(question.category, []).append(
                measured(talk, question, rank(question.text))
            )
    return out


def mean(rows: dict[int, list[list[float]]], categories: Iterable[int] = HEADLINE) -> list[float]:
    """Return the mean of each measure over all questions of some categories, in percent."""
    some = [row for category in categories for row in rows.get(category, ())]
    return [100 * sum(column) / len(some) for column in zip(*some, strict=True)]
