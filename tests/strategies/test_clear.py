"""Tool-result clearing; the rows M-1 to M-12 of published suites, where they fit."""

import json

import pytest
from tests.neutral import A, T, U, c, view

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.errors import BudgetError
from foldline.strategies.clear import Clear
from foldline.values.edits import apply
from foldline.values.handles import handles
from foldline.values.messages import Media, Message, Text, ToolResult

LONG = "x" * 4_000


def plan(found, strategy, target=0, *, cold=True, requests=20):
    context = CompactionContext(target, target, 100_000, handles(found.messages), cold, requests)
    return drive(strategy.propose(found, context), lambda _: None)


def cleared(found, strategy, **rest):
    edits = plan(found, strategy, **rest).edits
    return [found.positions[edit.message] for edit in edits]


def run(tool, number, text=LONG):
    return A(c(number, tool)), T(number, text, tool)


def view_of_calls(*tools):
    steps = [step for n, tool in enumerate(tools) for step in run(tool, str(n))]
    return view(U("task"), *steps, A("done"), U("next"))


def test_the_older_result_is_cleared_and_the_newer_stays():
    found = view_of_calls("read", "bash")
    edits = plan(found, Clear(keep=1)).edits
    assert [found.positions[edit.message] for edit in edits] == [2]
    after = apply(found.messages, edits)
    assert after[1] is found.messages[1]
    assert found.messages[2].results[0].text == LONG


@pytest.mark.requirement("C13", "K5")
def test_only_results_of_included_tools_are_cleared():
    found = view_of_calls("read", "agent", "bash", "bash")
    assert cleared(found, Clear(keep=1, only=("bash",))) == [6]
    assert cleared(found, Clear(keep=0, never=("read", "bash"))) == [4]


def test_a_tool_is_known_by_its_call_where_the_result_does_not_name_it():
    found = view(U("t"), A(c("1", "read")), T("1", LONG, ""), A("x"), U("u"))
    assert cleared(found, Clear(keep=0, never=("read",))) == []


@pytest.mark.requirement("C12")
def test_keep_zero_clears_all_old_results():
    assert cleared(view_of_calls("a", "b"), Clear(keep=0)) == [2, 4]


def test_keeping_more_groups_than_exist_clears_nothing_with_a_reason():
    found = plan(view_of_calls("a"), Clear(keep=5))
    assert found.edits == ()
    assert found.reason


@pytest.mark.requirement("K2")
def test_a_cleared_result_is_not_cleared_again():
    found = view_of_calls("a", "b", "d")
    once = found.after(plan(found, Clear(keep=1)).edits)
    assert plan(once, Clear(keep=1)).edits == ()


def test_results_in_one_message_are_cleared_separately():
    results = tuple(ToolResult(str(n), (Text(LONG),), "run") for n in range(3))
    found = view(
        U("t"), A(c("0"), c("1"), c("2")), Message("tool", results), *run("run", "9"), A("x")
    )
    edits = plan(found, Clear(keep=1)).edits
    assert [edit.part for edit in edits] == [0, 1, 2]
    assert len({edit.handle for edit in edits}) == 3


def test_it_stops_at_the_target():
    found = view_of_calls("a", "b", "d", "e")
    assert cleared(found, Clear(keep=0), target=found.tokens - 500) == [2]


@pytest.mark.parametrize("size", [5, 1_000])
def test_all_unread_results_stay(size):
    calls = [c(str(n)) for n in range(size)]
    found = view(U("t"), A(*calls), *(T(str(n), LONG) for n in range(size)))
    assert cleared(found, Clear(keep=0)) == []


def test_interleaved_results_are_cleared_like_others():
    found = view(U("t"), A(c("1")), A(c("2")), T("1", LONG), T("2", LONG), A("x"), U("u"))
    assert cleared(found, Clear(keep=0)) == [3, 4]


@pytest.mark.requirement("F65")
def test_results_shorter_than_their_stub_are_not_cleared():
    steps = [step for n in range(8) for step in run("run", str(n), "ok")]
    assert cleared(view(U("t"), *steps, A("x"), U("u")), Clear(keep=0)) == []


def test_media_are_cleared_with_their_result():
    image = ToolResult("1", (Text(LONG), Media("image")), "run")
    found = view(U("t"), A(c("1")), Message("tool", (image,)), A("x"), U("u"))
    after = found.after(plan(found, Clear(keep=0)).edits)
    assert len(after.messages[2].results[0].content) == 1


@pytest.mark.requirement("C11", "J1")
def test_a_warm_cache_delays_clearing_until_it_pays_back():
    found = view_of_calls("a", *["b"] * 6)
    assert plan(found, Clear(keep=6), cold=False).edits == ()
    assert "warm" in plan(found, Clear(keep=6), cold=False).reason
    assert plan(found, Clear(keep=6), cold=False, requests=10_000).edits
    assert plan(found, Clear(keep=6), cold=True).edits


@pytest.mark.parametrize("keep", [-1, "x", 1.5, None])
def test_an_impossible_number_of_groups_is_refused_at_construction(keep):
    with pytest.raises(BudgetError, match="whole number"):
        Clear(keep=keep)


@pytest.mark.requirement("C13")
def test_tools_are_named_in_any_case_of_letters():
    found = view_of_calls("Read", "read", "READ", "x")
    assert len(cleared(found, Clear(keep=0, only=("rEAD",)))) == 3
    assert len(cleared(found, Clear(keep=0, never=("Read",)))) == 1


# --- results that stay ---------------------------------------------------------------------


def failing(tool, number, **arguments):
    text = "Error: port 5432 is taken\n" + LONG
    return A(c(number, tool, json.dumps(arguments))), T(number, text, tool, is_error=True)


def passing(tool, number, **arguments):
    return A(c(number, tool, json.dumps(arguments))), T(number, "fine\n" + LONG, tool)


def test_the_last_failure_stays_until_the_same_succeeds():
    failed = failing("bash", "1", command="make up")
    again = failing("bash", "2", command="make up")
    others = [passing("bash", str(n), command=f"make {n}") for n in range(3, 6)]
    late = [message for step in others for message in step]
    still = view(U("t"), *failed, *again, *late, A("done"), U("next"))
    assert cleared(still, Clear(keep=1)) == [2, 6, 8]
    good = passing("bash", "9", command="make up")
    mended = view(U("t"), *failed, *again, *late, *good, A("done"), U("next"))
    assert cleared(mended, Clear(keep=1)) == [2, 4, 6, 8, 10]


def test_no_more_than_the_newest_five_failures_stay():
    steps = [m for n in range(9) for m in failing("bash", str(n), command=f"make {n}")]
    found = view(U("t"), *steps, A("done"), U("next"))
    assert cleared(found, Clear(keep=0)) == [2, 4, 6, 8]


def test_replies_of_the_user_to_a_call_stay():
    answer = f'User has answered your questions: "Which?"="{LONG}"'
    found = view(U("t"), *run("AskUserQuestion", "1", answer), *run("read", "2"), A("x"), U("u"))
    assert cleared(found, Clear(keep=0)) == [4]


def test_skills_stay_unless_their_tool_is_included():
    read = passing("read", "2", path="/skills/pdf/SKILL.md")
    found = view(U("t"), *run("Skill", "1"), *read, *run("bash", "3"), A("done"), U("next"))
    assert cleared(found, Clear(keep=0)) == [6]
    assert cleared(found, Clear(keep=0, only=("skill", "read"))) == [2, 4]
