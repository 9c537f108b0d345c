"""The bench of retention: results over their budget are cut where they lose less."""

from __future__ import annotations

import pytest
from tests.corpus import requires_corpus

import cuts
import retention
from peer import Answer
from retention_section import Measured, retention_section

STEPS = [
    {"role": "user", "text": "go on with LIMIT_A", "calls": []},
    *({"role": "tool", "text": f"line {n} of NAME_{n} " * 40, "calls": []} for n in range(80)),
]


@pytest.fixture(scope="module")
def case() -> cuts.Case:
    wire = cuts.tool(cuts.SHARED, "retention").openai(STEPS)
    prefix = "\n".join(step["text"] for step in STEPS)
    need = frozenset({"NAME_0", "NAME_1", "NAME_79"})
    return cuts.Case("agent/one", STEPS, wire, 20_000, prefix, need, need)


class Library:
    """A stand-in for a peer that returns its input."""

    name, version, call, problem, package = "Library", "1.0", "shrink()", "", "library"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def compact(self, *_):
        return self.answer


pytestmark = [pytest.mark.corpus, requires_corpus]


def sample(case: cuts.Case, answer: Answer) -> retention.Sample:
    library = Library(answer)
    return retention._run_peer(cuts.SHARED, library, library, case, 0.1)


def test_too_large_an_answer_is_cut_at_the_end_where_it_loses_less(case):
    found = sample(case, Answer(case.wire, seconds=0.5))
    assert found.score.size > 1
    assert found.score.kept.need == pytest.approx(2 / 3)
    assert found.seconds == 0.5


def test_an_error_keeps_nothing_and_is_counted(case):
    found = sample(case, Answer(None, "it crashed"))
    assert found.score.kept.need == 0
    section = retention_section(
        Measured([found.score], [found.score], [found], [Library(Answer(None))], 1)
    )
    table = next(one for one in section.tables if one.title == "Who was measured")
    assert table.rows[0][4] == "1 of 1"


def test_a_malformed_message_of_a_library_is_read_as_far_as_possible(case):
    odd = [
        {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": None}}]},
        {"role": "user", "content": [{"type": "text", "text": "NAME_1"}]},
    ]
    assert sample(case, Answer(odd)).score.kept.need == pytest.approx(1 / 3)
