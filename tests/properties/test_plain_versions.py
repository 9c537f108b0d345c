"""The linear implementations equal the simplest ones, which are quadratic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly
from tests.neutral import A, T, U, c, log
from tests.properties import plain_versions as plain

from foldline.repair.repair import repair
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite, apply
from foldline.values.groups import group, pair, pending_calls
from foldline.values.messages import Media, Message, Omitted, Text, Thinking, ToolCall, ToolResult

DIALECTS = ("openai-chat", "anthropic", "gemini", "openai-responses")
ROLES = ("user", "assistant", "assistant", "tool", "tool", "system")

numbers = st.sampled_from(["1", "2", "3", None])
tools = st.sampled_from(["run", "read"])
texts = st.sampled_from(["", " ", "words"])
parts = st.one_of(
    st.builds(Text, texts),
    st.builds(ToolCall, numbers, tools, st.just("{}")),
    st.builds(ToolCall, numbers, tools, st.just("{}")),
    st.builds(ToolResult, numbers, st.tuples(st.builds(Text, texts)), tools),
    st.builds(ToolResult, numbers, st.tuples(st.builds(Text, texts)), tools),
    st.sampled_from([Thinking("hm", signed=True), Media("image"), Omitted("clear")]),
)
messages = st.builds(Message, st.sampled_from(ROLES), st.lists(parts, max_size=3).map(tuple))
damaged = st.lists(messages, max_size=12).map(lambda said: log(*said))


def same(left, right):
    return [(m, m.id, m.intact) for m in left] == [(m, m.id, m.intact) for m in right]


@given(damaged)
def test_a_call_is_pending_until_the_conversation_goes_on(history):
    found = pair(history).open
    expected = {site for site in found if plain.pending(history, site)}
    assert pending_calls(history, found) == expected


@given(damaged, st.sampled_from(DIALECTS))
def test_a_repair_equals_the_plain_implementation(history, dialect):
    found = repair(history, dialect)
    assert found == plain.repair(history, dialect)
    assert same(apply(history, found), plain.apply(history, found))


@st.composite
def edited(draw):
    """A conversation and edits of it, some of messages that are not in view."""
    history = log(*(U(f"{n}") for n in range(draw(st.integers(0, 6)))))
    new = [Message("user", (Text("x"), Text("y")), id=f"new{n}") for n in range(3)]
    ids = st.sampled_from([m.id for m in (*history, *new)] + ["gone"])
    some = st.lists(ids, max_size=4).map(tuple)
    fresh = st.sampled_from(new)
    edit = st.one_of(
        st.builds(Rewrite, ids, st.integers(0, 2), st.sampled_from(["a", None]), st.just("clear")),
        st.builds(Drop, some, st.just("window")),
        st.builds(Fold, some, fresh),
        st.builds(Insert, st.one_of(ids, st.just("")), fresh),
        st.builds(Move, ids, ids),
    )
    return history, draw(st.lists(edit, max_size=8))


@given(edited())
def test_edits_equal_applying_them_one_by_one(case):
    history, edits = case
    assert same(apply(history, edits), plain.apply(history, edits))


# --- how the time grows ----------------------------------------------------------------------

STEP = 4
"""Length of the longer history, as a multiple of the shorter."""


def _calls(size):
    return [A(f"a{n}", c(f"{n}")) for n in range(size)]


def _results(size):
    return [T(f"{n}", f"r{n}") for n in range(size)]


SHAPES = {
    "calls that stay open": lambda n: [U("t"), *_calls(n), U("x")],
    "orphans": lambda n: [U("t"), *(m for pair in zip(_calls(n), _results(n)[::-1], strict=True)
                                    for m in pair if not m.calls)],
    "results before their calls": lambda n: [U("t"), *_results(n), *_calls(n)],
    "results in reverse order": lambda n: [U("t"), *_calls(n), *reversed(_results(n))],
    "parallel calls": lambda n: [A(*(c(f"{i}") for i in range(n))), *reversed(_results(n))],
    "one id": lambda n: [m for i in range(n) for m in (A(f"{i}", c("1")), T("1", f"{i}"))],
    "late results": lambda n: [A(c("1")), *(T("1", f"{i}") for i in range(n))],
    "one message with all results": lambda n: [
        *_calls(n), Message("user", (Text("x"), *(p for m in _results(n) for p in m.parts)))],
    "silence": lambda n: [U(" ") for _ in range(n)],
    "small messages": lambda n: [A("a") if i % 2 else U("u") for i in range(n)],
    "turns": lambda n: [m for i in range(0, n, 10) for m in (*_calls(i + 10)[i:],
                                                             *_results(i + 10)[i:])],
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dialect", DIALECTS[:3])
def test_the_time_of_a_repair_grows_with_the_history_and_not_with_its_square(shape, dialect):
    def work(history):
        group(history)
        apply(history, repair(history, dialect))

    assert grows_linearly(work, lambda size: log(*SHAPES[shape](size)), 200, 200 * STEP)
