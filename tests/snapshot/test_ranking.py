"""Ranking: the same order as sorting objects gives."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.ranking import Ranking, Statement

STATEMENTS = st.lists(
    st.builds(
        lambda density, start: Statement(density, 2.5, 0, start, start + 9),
        st.sampled_from((0.0, 0.5, 1.25)),
        st.integers(0, 10_000),
    ),
    max_size=20,
)


@given(STATEMENTS)
def test_statements_come_by_density_and_of_equal_ones_the_later_first(statements):
    statements.sort(key=lambda one: one[2:])
    assert list(Ranking(statements)) == sorted(statements, reverse=True)
