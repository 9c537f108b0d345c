import pytest
from tests.neutral import A, T, U

from foldline.core.salience.index import SalienceIndex
from foldline.core.salience.score import FLATNESS, Surroundings, probability, value, values

NOISE = [T(str(n), f"noise_{n} other_{n}") for n in range(60)]


def scored(*messages):
    return values(SalienceIndex.of(messages))


def test_every_item_gets_a_probability():
    found = scored(U("a_b"), A("c/d"), *NOISE)
    assert set(found) >= {"a_b", "c/d", "noise_0"}
    assert all(0 < value < 1 for value in found.values())


def test_what_the_assistant_wrote_again_and_again_is_worth_more_than_noise():
    found = scored(U("t"), *(A("mend src/app.py") for _ in range(5)), *NOISE[:5])
    assert found["src/app.py"] > found["noise_0"]


def test_what_was_used_lately_is_worth_more_than_what_was_used_long_ago():
    found = scored(A("see old/file.py"), *NOISE, A("see new/file.py"))
    assert found["new/file.py"] > found["old/file.py"]


@pytest.mark.parametrize("count", [0, 1, 1_000])
def test_histories_of_any_length_have_values(count):
    assert len(scored(*(T(str(n), f"item_{n}") for n in range(count)))) == count


def test_items_of_one_step_and_kind_that_occur_once_are_worth_the_same():
    found = scored(U("the alpha"), T("1", "alpha_x beta_y c/d"), T("2", "gamma_z"))
    assert found["alpha_x"] == found["beta_y"]
    assert found["alpha_x"] != found["c/d"]
    assert found["alpha_x"] != found["gamma_z"]


def test_what_an_item_is_worth_is_its_probability_made_flatter():
    index = SalienceIndex.of([U("a_b"), A("a_b"), *NOISE])
    use, around = index.use("a_b"), Surroundings.of(index)
    chance = probability("a_b", use, around)
    assert value("a_b", use, around) == pytest.approx(chance**FLATNESS)
    assert 0 < chance < value("a_b", use, around) < 1


def test_the_same_conversation_has_the_same_values():
    messages = [U("a_b c/d"), A("a_b"), *NOISE]
    assert scored(*messages) == scored(*messages)
