import pytest
from tests.neutral import A, T, U

from foldline.core.salience.index import SalienceIndex
from foldline.core.salience.score import values

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
