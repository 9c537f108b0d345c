import json

import pytest

from foldline.core.strategy import RungReport
from foldline.engine.receipt import Receipt
from foldline.frozen import replace
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Drop, Rewrite
from foldline.values.tokens import TokenCounter

DONE = Receipt(
    "compacted",
    "clear, window",
    12_000,
    3_000,
    40,
    12,
    "quarters",
    "default",
    4_000,
    edits=(Drop(("a",), "window"), Rewrite("b", 0, "s", "clear"), Rewrite("c", 0, "s", "clear")),
    rungs=(RungReport("clear", "applied", 9_000),),
    recall={"abcdef": "result of run"},
    warnings=("two lines could not be read",),
)


@pytest.mark.requirement("C7", "K4")
def test_a_receipt_reads_as_one_sentence():
    assert str(DONE) == (
        "compacted: 12,000 → 3,000 tokens (25%), 40 → 12 messages, by clear, window"
    )


@pytest.mark.parametrize("ratio", [1.0, 1.07])
def test_a_receipt_says_that_its_counts_are_estimates(ratio):
    name = TokenCounter(EstimatedCounter("claude"), ratio).name
    assert "compacted: about 12,000 → 3,000 tokens" in str(replace(DONE, counter=name))
    waiting = replace(DONE, counter=name, status="unchanged", reason="within budget")
    assert str(waiting) == "unchanged: within budget (about 12,000 tokens)"


def test_a_receipt_of_a_failure_says_why():
    failed = Receipt("failed", "too much", 10, 10, 1, 1, "quarters", "default", 5)
    assert str(failed) == "failed: too much (10 tokens)"


@pytest.mark.requirement("K21")
def test_a_receipt_becomes_json_with_its_schema_and_edits_by_kind():
    found = json.loads(json.dumps(DONE.to_dict()))
    assert found["schema"] == "foldline.receipt/1"
    assert found["edits"] == {"window": 1, "clear": 2}
    assert found["rungs"][0] == {
        "name": "clear",
        "outcome": "applied",
        "freed": 9_000,
        "reason": "",
    }
    assert found["recall"] == {"abcdef": "result of run"}
    assert found["warnings"] == ["two lines could not be read"]
