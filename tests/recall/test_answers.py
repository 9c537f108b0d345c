"""What of the best passages is written where the room is short."""

import json

from tests.recall.test_searching import COUNTER, ask, call, folded, result

USERS = {
    "users": [
        {"id": n, "name": f"user{n}", "quota": {"limit": 1_000 + n, "used": 3 * n}}
        for n in range(120)
    ],
    "next": "cursor_abc123",
}


def output(text):
    """Return holdings with one result of a tool, and its handle."""
    held, handles = folded(call("c1", "bash", command="run"), result("c1", text))
    return held, handles[1]


def test_the_value_in_one_line_of_json_that_is_asked_for_is_in_a_small_answer():
    held, _ = output(json.dumps(USERS))

    text = ask(held, "user57", max_tokens=250)

    assert "users[57].name: user57\nusers[57].quota.limit: 1057" in text
    assert COUNTER.text(text) <= 250
    assert not text.endswith("…")


def test_equal_values_of_other_records_are_not_the_same_answer():
    notes = "It was shipped to the same address as the one before it. " * 4
    held, _ = output(json.dumps({"orders": [{"notes": notes}, {"notes": notes}]}))

    text = ask(held, "shipped address")

    assert "orders[0].notes" in text
    assert "orders[1].notes" in text
