"""Cases of the suites of other projects, by their row, as far as they fit; results are ours."""

import pytest
from tests.neutral import COUNTER as QUARTERS
from tests.neutral import A, T, U, c, log, view

import foldline
from foldline.core.asks import drive
from foldline.core.retention_settings import Outputs
from foldline.core.strategy import CompactionContext
from foldline.repair.repair import repair
from foldline.strategies.bound import bound
from foldline.strategies.clear import Clear
from foldline.strategies.tail import Keep
from foldline.testing import check_run
from foldline.testing.wires import wire
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.groups import group
from foldline.values.handles import handles
from foldline.values.messages import Media, Message, Text, Thinking, ToolResult

COUNTER = EstimatedCounter("o200k")


def first_kept(found, share):
    """Return the position of the first message that a split by tokens keeps."""
    context = CompactionContext(found.tokens, found.tokens, found.tokens, {})
    older = Keep("share", 1 - share).older(found, context)
    folded = {i for g in older for i in g.members}
    return next((i for i in range(1, len(found.messages)) if i not in folded), None)


# --- split points ---------------------------------------------------------------------------


def test_an_empty_history_and_a_single_message_are_not_split():
    """S-2, S-7."""
    assert first_kept(view(), 0.5) is None
    assert first_kept(view(U("x" * 66)), 0.5) is None


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_split_keeps_the_newest_turn(share):
    """S-3, S-4."""
    found = view(U("x" * 66), A("y" * 68), U("x" * 66), A("y" * 68), U("x" * 65))
    older = Keep("share", 1 - share).older(found, CompactionContext(1, 1, 1, {}))
    assert 4 not in {i for g in older for i in g.members}


def test_a_split_never_follows_an_open_call():
    """S-6."""
    found = view(U("a"), A("b"), U("d"), A(c("1")))
    older = Keep("share", 0.01).older(found, CompactionContext(1, 1, 1, {}))
    assert max(i for g in older for i in g.members) < 3


def test_a_model_message_with_a_file_can_be_split_off():
    """S-8."""
    found = view(U("a"), Message("assistant", (Media("document"),)), U("b"), A("x"), U("d"))
    older = Keep("groups", 0).older(found, CompactionContext(1, 1, 1, {}))
    assert (1,) in [g.members for g in older]


@pytest.mark.requirement("G3")
def test_one_long_tool_loop_without_another_user_is_split_at_a_step():
    """S-9."""
    steps = [m for n in range(200) for m in (A(c(str(n))), T(str(n), "word " * 50))]
    value = wire(log(U("t"), *steps), "gemini")
    limit = int(0.3 * foldline.count(value, counter=COUNTER))
    assert check_run(value, budget=limit, counter=COUNTER).receipt.status == "compacted"


# --- pairing --------------------------------------------------------------------------------

PAIRS = {
    "I-1": ([A(c("t")), T("t"), U("u")], [(0, 1), (2,)]),
    "I-2": ([Message("assistant", (Thinking("hm"),)), A(c("t")), U("u")], [(0, 1), (2,)]),
    "I-4": (
        [Message("assistant", (Thinking("hm"),)), A(c("t")), T("t"), A("text")],
        [(0, 1, 2), (3,)],
    ),
    "I-5": (
        [U("a"), A(c("1")), T("1"), A("b"), U("d"), A(c("2")), T("2"), A("e")],
        [(0,), (1, 2), (3,), (4,), (5, 6), (7,)],
    ),
    "I-6": ([U("a"), A("b"), U("d")], [(0,), (1,), (2,)]),
    "I-7": ([U("a")], [(0,)]),
    "I-9": ([U("a"), A(c("1")), T("1"), A("2"), U("b"), A("3")], [(0,), (1, 2), (3,), (4,), (5,)]),
}


@pytest.mark.parametrize("row", PAIRS)
def test_related_messages_are_grouped(row):
    messages, expected = PAIRS[row]
    assert [found.members for found in group(messages)] == expected


# --- repair ---------------------------------------------------------------------------------


def test_an_empty_history_needs_no_repair():
    """R-1."""
    assert repair((), "gemini") == ()


def test_two_user_turns_in_a_row_are_unchanged():
    """R-2: every provider takes them, and joining them would rewrite the prefix."""
    for dialect in ("openai-chat", "anthropic", "gemini", "openai-responses"):
        assert repair(log(U("a"), U("b"), A("x"), U("u")), dialect) == ()


def test_a_history_that_ends_with_the_model_is_unchanged():
    """R-3: the caller appends the next message."""
    assert repair(log(U("a"), A("b")), "gemini") == ()


def test_repairs_have_the_same_ids_every_time():
    """R-3, R-5."""
    broken = log(A(c("1"), c("2")), U("u"))
    assert repair(broken, "openai-chat") == repair(broken, "openai-chat")


def test_a_turn_of_only_omitted_reasoning_is_removed():
    """R-10."""
    thought = Message("assistant", (Thinking("hm", signed=True),))
    told = log(U("t"), thought, *(m for _ in range(9) for m in (U("x " * 90), A("y"))), U("u"))
    result = check_run(wire(told, "anthropic"), budget=600, counter=COUNTER)
    assert all(message["content"] for message in result.messages)


def test_removing_a_call_removes_its_output_and_the_reverse():
    """R-13."""
    steps = [m for n in range(20) for m in (A(c(str(n))), T(str(n), "word " * 100))]
    value = wire(log(U("t"), *steps, A("x"), U("u")), "openai-responses")
    result = check_run(value, policy="window", budget=900, counter=COUNTER)
    calls = [i["call_id"] for i in result.messages if i["type"] == "function_call"]
    outputs = [i["call_id"] for i in result.messages if i["type"] == "function_call_output"]
    assert calls == outputs
    assert 0 < len(calls) < 20


# --- masking and truncation -----------------------------------------------------------------


def cleared(found, strategy, target=0):
    context = CompactionContext(target, target, 10**6, handles(found.messages))
    plan = drive(strategy.propose(found, context), lambda _: None)
    return [found.positions[edit.message] for edit in plan.edits]


def test_only_the_oldest_of_large_outputs_is_masked_when_that_is_enough():
    """O-1."""
    sizes = (60_000, 20_000, 10_000)
    steps = [m for n, s in enumerate(sizes) for m in (A(c(str(n))), T(str(n), "x" * 4 * s))]
    found = view(U("t"), *steps, A("x"), U("u"))
    assert cleared(found, Clear(keep=0), target=50_000) == [2]


def test_masked_exempt_growing_or_latest_outputs_are_unchanged():
    """O-4."""
    found = view(
        U("t"),
        A(c("1", "save_memory")),
        T("1", "x" * 4_000, "save_memory"),
        A(c("2")),
        T("2", "ok"),
        A(c("3")),
        T("3", "x" * 4_000),
    )
    assert cleared(found, Clear(keep=0, never=("save_memory",))) == []


def test_in_an_output_with_media_only_the_text_is_cut():
    """O-5, O-11."""
    image = Media("image")
    result = ToolResult("1", (Text("line of output\n" * 9_000), image, Text("end")), "shot")
    (message,) = log(Message("tool", (result,)))
    (edit,) = bound(message, QUARTERS, handle="abcdef", outputs=Outputs(200, 1_000))
    assert edit.keep_media
    assert QUARTERS.text(edit.text) <= 200
    assert edit.text.startswith("line of output")


@pytest.mark.parametrize(
    "text",
    [
        "x" * 1_000_000,
        "\n".join(["y" * 10_000] * 10),
        "👩‍👩‍👧‍👦" * 20_000,
        "\n" * 500_000,
        "汉字" * 100_000,
    ],
    ids=["one line", "long lines", "emoji", "blank", "chinese"],
)
@pytest.mark.requirement("H7", "K26")
def test_any_output_is_limited_and_stays_valid_text(text):
    """O-9, O-14."""
    (message,) = log(T("1", text, "a/b"))
    for edit in bound(message, QUARTERS, handle="abcdef", outputs=Outputs(500, 2_000)):
        assert QUARTERS.text(edit.text) <= 500
        edit.text.encode("utf-8")
