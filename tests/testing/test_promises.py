from types import SimpleNamespace

import pytest

from foldline.core.asks import Ask
from foldline.testing.promises import check_atomic, check_idemp, check_term


def test_a_failed_action_that_changed_the_state_is_found():
    state = {"messages": [1]}

    def half():
        state["messages"].append(2)
        raise KeyboardInterrupt

    with pytest.raises(AssertionError, match=r"ATOMIC.*KeyboardInterrupt"):
        check_atomic(lambda: state, half)


def test_an_action_may_change_a_state_only_where_that_is_allowed():
    state = [1]
    check_atomic(lambda: state, lambda: state.append(2), may_change=True)
    with pytest.raises(AssertionError, match="ATOMIC"):
        check_atomic(lambda: state, lambda: state.append(3))


def test_too_many_model_calls_are_found():
    def chatty(answer):
        while True:
            answer(Ask("again", 10))

    with pytest.raises(AssertionError, match="TERM: more than 3 model calls"):
        check_term(chatty, asks=3)


def test_taking_too_long_is_found():
    with pytest.raises(AssertionError, match="TERM"):
        check_term(lambda _: None, seconds=-1)


def test_a_second_compaction_that_does_something_is_found():
    def compaction(status):
        receipt = SimpleNamespace(status=status, reason="r", tokens_before=2, tokens_after=1)
        return SimpleNamespace(receipt=receipt, messages=[])

    with pytest.raises(AssertionError, match="IDEMP"):
        check_idemp(compaction("compacted"), lambda _: compaction("compacted"))
