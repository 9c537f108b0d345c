import random
import string

import pytest

from foldline.agents.loop_detection import (
    LoopDetector,
    LoopSettings,
    RepetitionDetector,
    repeats_itself,
)
from foldline.errors import BudgetError


def verdicts(calls, **settings):
    detector = LoopDetector(LoopSettings(**settings))
    return [bool(detector.check(*call)) for call in calls]


def call(name, result=""):
    return ("read", f'{{"path": "{name}"}}', result)


@pytest.mark.requirement("H8")
def test_four_equal_calls_are_none_and_the_fifth_is_one():
    assert verdicts([call("a")] * 6) == [False] * 4 + [True, True]
    assert verdicts([("read", '{"a": 1, "b": 2}'), ("read", '{"b":2,"a":1}')] * 3)[4]
    assert not any(verdicts([call("a")] * 9, repeats=0))


@pytest.mark.parametrize(("period", "calls"), [(2, 15), (3, 20), (5, 30)])
def test_cycles_of_calls_are_found(period, calls):
    found = verdicts([call(n % period) for n in range(calls)])
    assert found.index(True) == 5 * period - 1


def test_a_cycle_that_was_broken_is_none():
    pairs = [call("a"), call("b")] * 4
    assert not any(verdicts([*pairs, call("c"), *pairs]))


def test_the_same_call_with_another_result_is_progress():
    assert not any(verdicts([call("status", str(n)) for n in range(50)]))


def test_calls_that_return_nothing_new_are_detected_in_any_order():
    chance = random.Random(1)  # noqa: S311  # an order that is no cycle
    known = [call(n) for n in range(10)]
    shuffled = [chance.choice(known) for _ in range(40)]
    assert verdicts([*known, *shuffled]).index(True) == 10 + 30 - 1
    detector = LoopDetector(LoopSettings())
    for one in (*known, *shuffled[:28]):
        assert detector.check(*one) == ""
    assert detector.check(*call("new")) == ""
    assert detector.check(*shuffled[0]) == ""


def test_invalid_json_arguments_are_compared_as_text():
    assert verdicts([("run", "[" * 10_000)] * 5)[-1]
    assert verdicts([("run", "{broken \ud83d")] * 5)[-1]


@pytest.mark.parametrize(
    ("words", "numbers"),
    [("repeats", {"repeats": -1}), ("cycle", {"cycle": 0}), ("stale", {"stale": 1})],
)
def test_invalid_settings_are_errors(words, numbers):
    with pytest.raises(BudgetError, match=words):
        LoopSettings(**numbers)


# --- texts ---------------------------------------------------------------------------------


def noise(length, seed=0):
    chance = random.Random(seed)  # noqa: S311  # a text without a pattern
    return "".join(chance.choices(string.ascii_letters + " ", k=length))


CHUNK = "This is a piece of fifty characters, no more of it"


def test_a_piece_of_fifty_characters_ten_times_is_babble():
    assert len(CHUNK) == 50
    assert not repeats_itself(noise(900) + CHUNK * 9)
    assert repeats_itself(noise(900) + CHUNK * 10)
    assert repeats_itself("ha " * 200)


@pytest.mark.parametrize(
    "text",
    [
        "".join(CHUNK + noise(500, n) for n in range(12)),
        "".join(f"{CHUNK} number {n}\n" for n in range(40)),
        "| 0 | 0 | 0 |\n" * 60,
        "- the same item\n" * 60,
        "## The same heading\n" * 60,
        "> the same quote\n" * 60,
        "=" * 900,
        "-----\n" * 200,
        "",
    ],
)
def test_lists_tables_dividers_and_texts_that_go_on_are_none(text):
    assert not repeats_itself(text)


def test_babble_is_found_while_it_arrives_and_code_may_repeat():
    babble, pieces = RepetitionDetector(), 0
    while not babble.repeats(CHUNK[:25]):
        pieces += 1
        assert pieces < 80
    code = RepetitionDetector()
    assert not code.repeats("```\n")
    assert not any(code.repeats("print(0)\n") for _ in range(2_000))
    assert not code.repeats("```\n" + noise(3_000))
    assert any(code.repeats("again and again ") for _ in range(600))
