"""Ranking: the order that sorting judged statements gives, with few of them judged."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.ranking import Ranking, Statement

# Density, how far its bound is above it, cost.
JUDGED = st.lists(
    st.tuples(
        st.sampled_from((0.0, 0.5, 1.25)),
        st.sampled_from((0.1, 0.4, 2.0)),
        st.sampled_from((2.0, 9.0)),
    ),
    max_size=20,
)


def ranked(found, judged=None):
    def judge(number, source, start, end):
        assert (source, start, end) == (number, number, number + 9)
        if judged is not None:
            judged.append(number)
        return found[number][0]

    ranking = Ranking(judge)
    for number, (density, above, cost) in enumerate(found):
        ranking.add(number, [(number, number + 9)], [cost], [density + above])
    return ranking


@given(JUDGED)
def test_statements_come_by_density_and_of_equal_ones_the_later_first(found):
    statements = [
        Statement(density, cost, number, number, number + 9)
        for number, (density, _, cost) in enumerate(found)
    ]
    statements.sort(key=lambda one: (one.density, one.source), reverse=True)
    judged = []
    ranking = ranked(found, judged)
    assert list(ranking) == list(ranking) == statements
    assert sorted(judged) == list(range(len(found)))


@given(JUDGED, st.floats(0, 40))
def test_only_statements_come_that_fit_into_what_is_left(found, space):
    expected, left = [], space
    for statement in list(ranked(found)):
        if statement.cost <= left:
            expected.append(statement)
            left -= statement.cost
    taken = list[Statement]()

    def left():
        return space - sum(statement.cost for statement in taken)

    for statement in ranked(found).within(left):
        if statement.cost <= left():
            taken.append(statement)
    assert taken == expected


def test_a_statement_that_cannot_come_next_is_not_judged():
    judged = []
    statements = iter(ranked([(5.0, 1.0, 2.0), (1.0, 1.0, 2.0), (1.0, 9.0, 2.0)], judged))
    assert next(statements).density == 5.0
    assert judged == [2, 0]
    assert len(list(statements)) == 2
