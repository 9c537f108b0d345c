from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import A, S, T, U, c

from foldline.core.messages import Message, Thinking
from foldline.core.names import blanked, mentions
from foldline.core.salience.index import SalienceIndex, Use


def test_where_an_item_occurs_is_known_by_step():
    index = SalienceIndex.of(
        [
            U("see src/app.py"),
            A("reading", c("1", "read", '{"p": "src/app.py"}')),
            T("1", "db_url"),
        ]
    )
    use = index.use("src/app.py")
    assert (use.first, use.last, use.steps, use.spoken, use.spoken_last) == (0, 1, 2, 1, 1)
    assert (use.shown_last, use.times, use.kind) == (0, 2, "path")
    assert index.use("db_url").spoken == 0
    assert index.use("never_said") is None
    assert index.steps == 3


def test_an_item_that_was_mentioned_once_takes_no_more_than_its_step():
    index = SalienceIndex.of([U("a_b c_d"), A("c_d"), T("1", "e_f e_f")])
    assert index.single == {"a_b": 0}
    assert set(index.repeated) == {"c_d", "e_f"}
    assert index.use("a_b") == index.once("a_b", 0)
    assert (index.use("e_f").times, index.use("e_f").burst, index.use("e_f").steps) == (2, 2, 1)


def test_the_least_crowded_step_with_an_item_is_known():
    crowded = " ".join(f"name_{n}" for n in range(50))
    index = SalienceIndex.of([T("1", crowded), T("2", "name_7"), T("3", crowded)])
    assert index.use("name_7").crowd == 1
    assert index.use("name_8").crowd == 50


def test_a_use_takes_every_further_step_into_account():
    use = Use("snake", 3, 3, 9)
    use.note(3, 2, 9, spoken=False)
    use.note(5, 4, 1, spoken=True)
    use.note(8, 1, 20, spoken=False)
    assert use == Use(
        "snake",
        first=3,
        last=8,
        crowd=1,
        steps=3,
        times=7,
        burst=4,
        spoken=1,
        spoken_last=5,
        shown_last=8,
    )


SAID = st.lists(st.sampled_from(["a_b", "c/d", "e.f", "the", "--go", "\ud800", "é"]), max_size=6)
SPEAKERS = st.sampled_from([U, A, lambda text: T("1", text), S])
HISTORIES = st.lists(st.builds(lambda who, said: who(" ".join(said)), SPEAKERS, SAID), max_size=12)


@given(HISTORIES)
def test_adding_messages_one_by_one_gives_the_same_as_all_at_once(messages):
    one_by_one = SalienceIndex()
    for message in messages:
        one_by_one.add(message)
        for item in one_by_one.single:
            one_by_one.use(item)  # to ask changes nothing
    assert one_by_one == SalienceIndex.of(messages)


@given(HISTORIES)
def test_how_often_an_item_occurs_is_what_counting_all_texts_gives(messages):
    index = SalienceIndex.of(messages)
    counted, steps = Counter(), Counter()
    for message in messages:
        if message.role != "system":
            text = message.text or "".join(result.text for result in message.results)
            here = Counter(mentions(blanked(text)))
            counted += here
            steps.update(here.keys())
    assert not index.single.keys() & index.repeated.keys()
    assert index.single.keys() | index.repeated.keys() == counted.keys()
    assert all(index.use(item).times == times for item, times in counted.items())
    assert all(index.use(item).steps == times for item, times in steps.items())


@pytest.mark.parametrize("text", ["", "a" * 1_000_000, "\ud800", "汉_字" * 100_000, "_" * 100_000])
def test_no_text_is_an_error(text):
    index = SalienceIndex.of([U(text), A(text), T("1", text)])
    assert index.steps == 3
    assert all(index.use(item) for item in (*index.single, *index.repeated))


def test_system_prompts_and_reasoning_say_nothing():
    index = SalienceIndex.of([S("a_b"), Message("assistant", (Thinking("c_d"),))])
    assert index == SalienceIndex()


def test_the_words_that_users_and_the_assistant_say_are_kept_with_their_latest_step():
    index = SalienceIndex.of([U("mend the cache"), T("1", "nothing here"), A("the build")])
    assert index.words["cache"] == 0
    assert index.words["the"] == 2
    assert "nothing" not in index.words
