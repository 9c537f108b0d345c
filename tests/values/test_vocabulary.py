"""The vocabulary of a conversation: names by user and agent count, not tool outputs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import A, S, T, U, c

from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text
from foldline.values.vocabulary import MAX_USER, Vocabulary


def worths(*messages):
    return Vocabulary.of(messages).worths()


def test_text_of_users_and_models_is_indexed_and_tool_output_is_not():
    found = worths(
        S("see rules.md"),
        U("mend src/app.py"),
        A("it is load_all", c("1", "read", '{"path": "lib/known.py"}')),
        T("1", "secret_name in hidden/path.py"),
    )
    assert set(found) == {"src/app.py", "load_all", "lib/known.py"}


def test_names_in_frames_are_not_the_users():
    framed = "<environment_context>\nsee cwd_name\n</environment_context>\nmend src/app.py"
    assert set(worths(U(framed))) == {"src/app.py"}


def test_the_letter_of_an_escaped_line_feed_is_not_part_of_a_name():
    found = worths(A(r"printf '.entire/tmp\n.claude\n/etc/hosts\tREADME.md\n'"))
    assert {"etc/hosts", "README.md"} <= {name.lstrip("/") for name in found}
    assert not [name for name in found if name.startswith(("n.", "n/", "tREAD"))]


def test_a_name_used_only_by_the_user_is_less_likely_than_one_of_the_agent():
    found = Vocabulary.of([U("some_name other_name"), A("other_name")]).likely()
    alone = Vocabulary.of([A("some_name"), A("word")]).likely()
    assert found["some_name"] < alone["some_name"] < found["other_name"]


def test_a_number_of_several_parts_is_as_unlikely_as_any_other():
    found = Vocabulary.of([A("", c("1", "run", '{"it": "3.11 4711 a_name"}'))]).likely()
    assert found["3.11"] == found["4711"] < found["a_name"]


def test_the_prose_of_the_agent_counts_more_than_arguments_and_the_more_the_more_often():
    call = c("1", "read", '{"path": "in_call"}')
    found = worths(U("in_request"), A("often_said", call), A("often_said, once_said"))
    assert found["often_said"] > found["once_said"] > found["in_request"] > found["in_call"] > 0


def test_a_name_used_by_both_counts_more_than_one_used_by_one():
    found = worths(U("both_said"), A("both_said agent_said"))
    assert found["both_said"] > found["agent_said"]


def test_recently_written_names_are_likelier_to_be_needed_again():
    found = Vocabulary.of([U("old_name"), *[A("word")] * 20, A("new_name")]).likely()
    assert found["new_name"] > found["old_name"] > 0


def test_a_name_is_likelier_than_a_number_and_a_number_in_prose_than_one_in_arguments():
    call = c("1", "read", '{"lines": 4711}')
    found = Vocabulary.of([A("4712 some_name", call)]).likely()
    assert found["some_name"] > found["4712"] > found["4711"]


def test_a_pasted_user_text_is_indexed_up_to_a_limit():
    assert set(worths(U("first_name " + "word " * MAX_USER + "last_name"))) == {"first_name"}


def test_the_first_line_and_the_handles_of_a_snapshot_are_not_names():
    text = f"{SNAPSHOT_HEADER}: quotes from 1,419 folded messages]\n1f0c2a user: see src/app.py"
    assert set(worths(U(seal_text(text)))) == {"src/app.py"}


def test_a_name_after_an_escaped_line_feed_or_tab_is_read_correctly():
    edits = [{"new": "if x:\n\tload_all()\nfree_all()"}]
    for arguments in ({"edits": edits}, {"text": edits[0]["new"]}):
        found = worths(A(c("1", "edit", json.dumps(arguments))))
        assert set(found) == {"load_all", "free_all"}


@given(
    st.lists(
        st.sampled_from(
            [U("a_b x/y"), A("a_b 4711"), A(c("1", "run", '{"p": "x/y"}')), T("1", "n_n")]
        )
    )
)
def test_an_incremental_vocabulary_equals_that_of_the_whole_conversation(messages):
    kept = Vocabulary()
    for message in messages:
        kept.add(message)
    assert kept == Vocabulary.of(messages)
    assert set(kept.worths()) == set(kept.likely())
    assert all(worth > 0 for worth in (*kept.worths().values(), *kept.likely().values()))


@pytest.mark.parametrize("text", ["\ud800 lone_half", "\x00", "a" * 100_000, ""])
def test_any_text_can_be_read(text):
    assert set(worths(U(text))) <= {"lone_half"}
