"""Ranking: the order of judged statements."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.ranking import Ranking, Statement

JUDGED = st.lists(st.tuples(st.sampled_from((0.0, 0.5, 1.25)), st.floats(1, 9)), max_size=20)


def ranked(found):
    ranking = Ranking()
    for number, (density, cost) in enumerate(found):
        ranking.add(number, [(number, number + 9)], [cost], [density])
    return ranking


@given(JUDGED)
def test_statements_come_by_density_and_of_equal_ones_the_later_first(found):
    statements = [
        Statement(density, cost, number, number, number + 9)
        for number, (density, cost) in enumerate(found)
    ]
    statements.sort(key=lambda one: (one.density, one.source), reverse=True)
    ranking = ranked(found)
    assert list(ranking) == list(ranking) == statements


def test_what_is_added_later_is_ranked_with_the_others():
    ranking = ranked([(1.0, 2.0), (3.0, 2.0)])
    assert [one.density for one in ranking] == [3.0, 1.0]
    ranking.add(2, [(0, 9), (9, 18)], [2.0, 2.0], [2.0, 4.0])
    assert [one.density for one in ranking] == [4.0, 3.0, 2.0, 1.0]
