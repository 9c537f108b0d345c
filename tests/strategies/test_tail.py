import pytest
from tests.neutral import A, T, U, c, view

from foldline.core.strategy import CompactionContext
from foldline.errors import BudgetError
from foldline.strategies.tail import Keep
from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text


def folded(found, keep, target=1_000):
    context = CompactionContext(target, target, target, {})
    return [group.members for group in keep.older(found, context)]


def turns(count):
    return view(
        U("task"), *(m for n in range(count) for m in (A(c(str(n))), T(str(n)))), A("end"), U("u")
    )


def test_the_newest_groups_stay():
    assert folded(turns(4), Keep("groups", 2)) == [(1, 2), (3, 4), (5, 6)]
    assert folded(turns(4), Keep("groups", 99)) == []
    assert len(folded(turns(4), Keep("groups", 0))) == 5


@pytest.mark.requirement("H1")
def test_the_newest_rounds_stay_each_with_all_that_follows():
    found = view(U("task"), A("a"), U("two"), A("b"), U("three"), A("d"))
    assert folded(found, Keep("rounds", 1)) == [(1,), (2,), (3,)]
    assert folded(found, Keep("rounds", 2)) == [(1,)]
    assert folded(found, Keep("rounds", 9)) == []
    assert len(folded(found, Keep("rounds", 0))) == 3


@pytest.mark.parametrize("unit", ["target", "share"])
def test_a_share_of_tokens_stays_and_never_less_than_whole_groups(unit):
    found = view(U("task"), *(A("x" * 400) for _ in range(10)), U("next"))
    kept = 10 - len(folded(found, Keep(unit, 0.25), target=found.tokens))
    assert kept == 2


def test_an_earlier_snapshot_is_always_folded_again():
    snapshot = U(seal_text(f"{SNAPSHOT_HEADER}: quotes]"))
    found = view(U("task"), A("a"), snapshot, A("b"), U("u"))
    assert (2,) in folded(found, Keep("groups", 99))


@pytest.mark.requirement("G3")
def test_a_single_tool_loop_can_be_cut_between_its_steps():
    found = turns(200)
    cut = folded(found, Keep("share", 0.3))
    assert 0 < len(cut) < 201
    assert cut[-1] == (cut[-1][0], cut[-1][0] + 1)


@pytest.mark.parametrize(
    ("unit", "amount"),
    [("groups", -1), ("rounds", "x"), ("groups", 1.5), ("share", 7), ("target", float("nan"))],
)
def test_an_impossible_amount_is_refused_at_construction(unit, amount):
    with pytest.raises(BudgetError, match="not"):
        Keep(unit, amount)
