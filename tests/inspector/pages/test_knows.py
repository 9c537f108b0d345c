from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.sample import PLANTED
from tests.inspector.sample import from_our_archive

from foldline.inspector.pages.knows import check_knowledge
from foldline.inspector.trace import SessionTrace
from foldline.values.messages import Message, Text


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> SessionTrace:
    return from_our_archive(tmp_path_factory.mktemp("archive"))


def known(trace: SessionTrace, query: str, at: int | None = None):
    point = trace.timeline.now if at is None else trace.timeline.points[at]
    return check_knowledge(
        query, trace.view(point.request), trace.log_until(point.request), trace.handles
    )


def test_the_task_is_in_view_verbatim(trace: SessionTrace) -> None:
    answer = known(trace, "why the build of src/app.py fails")
    assert (answer.standing, answer.literal) == ("here", True)
    first = answer.passages[0]
    assert first.text[first.start : first.end] == "why the build of src/app.py fails"


def test_a_folded_line_is_recalled_by_its_handle(trace: SessionTrace) -> None:
    answer = known(trace, "value_2_17 = compute(17, 2)")
    assert answer.standing == "handle"
    assert answer.passages[0].handle
    assert "value_2_17" in trace.find(answer.passages[0].message).results[0].text


def test_a_message_was_in_view_until_it_was_removed(trace: SessionTrace) -> None:
    assert known(trace, "value_2_17 = compute(17, 2)", at=4).standing == "here"
    assert known(trace, "value_2_17 = compute(17, 2)", at=1).standing == "never"


def test_unmentioned_content_was_never_mentioned(trace: SessionTrace) -> None:
    answer = known(trace, "zebra_crossing_441")
    assert (answer.standing, answer.passages) == ("never", ())


def test_a_question_finds_the_passage_and_its_standing(trace: SessionTrace) -> None:
    answer = known(trace, "What is the name of the deploy key?")
    assert not answer.literal
    assert any(PLANTED.split()[-1] in one.text for one in answer.passages)
    assert answer.standing in ("snapshot", "handle")


def test_a_name_is_found_whole_only() -> None:
    log = (Message("user", (Text("restart the tills"),), id="a" * 32),)
    assert check_knowledge("till", log, log, {}).standing == "never"
    assert check_knowledge("TILLS", log, log, {}).standing == "here"


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=5))
def test_any_query_on_any_text_is_answered(query: str, texts: list[str]) -> None:
    log = tuple(Message("user", (Text(t),), id=f"{n:032x}") for n, t in enumerate(texts))
    answer = check_knowledge(query, log[1:], log, {})
    assert (answer.standing == "never") == (not answer.passages)


@given(st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=5))
def test_content_in_view_is_found_there(texts: list[str]) -> None:
    log = tuple(Message("user", (Text(t),), id=f"{n:032x}") for n, t in enumerate(texts))
    words = " ".join(texts[0].split())
    if words:
        assert check_knowledge(words, log, log, {}).standing == "here"
