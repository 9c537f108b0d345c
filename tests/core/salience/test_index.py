from tests.neutral import A, S, T, U, c

from foldline.core.messages import Message, Thinking
from foldline.core.salience.index import SalienceIndex


def test_where_an_item_occurs_is_known_by_step():
    index = SalienceIndex.of(
        [
            U("see src/app.py"),
            A("reading", c("1", "read", '{"p": "src/app.py"}')),
            T("1", "db_url"),
        ]
    )
    use = index.uses["src/app.py"]
    assert (use.first, use.last, use.steps, use.spoken, use.spoken_last) == (0, 1, 2, 1, 1)
    assert index.uses["db_url"].spoken == 0
    assert index.steps == 3


def test_adding_messages_one_by_one_gives_the_same_as_all_at_once():
    messages = [U("a_b c_d"), A("c_d"), T("1", "a_b " * 5), U("e.f")]
    one_by_one = SalienceIndex()
    for message in messages:
        one_by_one.add(message)
    assert one_by_one == SalienceIndex.of(messages)


def test_system_prompts_and_reasoning_say_nothing():
    index = SalienceIndex.of([S("a_b"), Message("assistant", (Thinking("c_d"),))])
    assert index.uses == {}


def test_the_words_that_users_and_the_assistant_say_are_kept_with_their_latest_step():
    index = SalienceIndex.of([U("mend the cache"), T("1", "nothing here"), A("the build")])
    assert index.words["cache"] == 0
    assert index.words["the"] == 2
    assert "nothing" not in index.words
