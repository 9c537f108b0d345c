"""Ids that are given one by one are those that are given at once."""

from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import U

from foldline.session.message_ids import MessageIds
from foldline.values.identity import content_hash, identify

texts = st.lists(st.sampled_from(["a", "b", "c"]), max_size=40)


def given_one_by_one(ids, taken, messages):
    for message in messages:
        number = ids.give(content_hash(message))
        taken[number] = len(taken)
        ids.confirm(number)


@given(texts, st.integers(0, 40))
def test_ids_are_the_same_in_one_process_and_in_the_next(said, cut):
    messages = [U(text) for text in said]
    taken = {}
    given_one_by_one(MessageIds(taken), taken, messages[:cut])
    given_one_by_one(MessageIds(taken), taken, messages[cut:])

    assert list(taken) == [message.id for message in identify(messages)]


def test_a_released_id_is_given_again():
    taken = {}
    ids = MessageIds(taken)
    content = content_hash(U("a"))
    given_one_by_one(ids, taken, [U("a")])
    second, third = ids.give(content), ids.give(content)
    ids.forget(second, content)
    ids.forget(third, content)

    assert ids.give(content) == second
    assert ids.give(content) == third


def test_a_content_repeated_a_hundred_thousand_times_is_counted_in_few_steps():
    looked = []

    class Taken:
        def __contains__(self, number):
            looked.append(number)
            return number in said

    content, said = "a" * 32, {}
    given_one_by_one(MessageIds(said), said, [])
    ids = MessageIds(said)
    for _ in range(5_000):
        number = ids.give(content)
        said[number] = 1
        ids.confirm(number)

    again = MessageIds(Taken())

    assert again.give(content) not in said
    assert len(looked) < 60
