from hypothesis import given
from hypothesis import strategies as st

from foldline.core.salience.lines import Line
from foldline.core.salience.select import LINE_TOKENS, candidates, select

VALUES = {"a_a": 0.9, "b_b": 0.5, "c_c": 0.1}


def offered(*texts, base=0.0, message=None):
    lines = [Line(n if message is None else message, 0, n, text) for n, text in enumerate(texts)]
    return candidates(lines, VALUES, lambda line: len(line.text), lambda _: (1.0, base))


def chosen(found, budget, **rest):
    return [candidate.line.text for candidate in select(found, VALUES, budget, **rest)]


def test_lines_without_any_value_are_not_offered():
    assert offered("nothing here") == []
    assert len(offered("nothing here", base=0.1)) == 1


def test_of_lines_with_the_same_text_the_newest_is_offered():
    (candidate,) = offered("a_a", "a_a")
    assert candidate.line.number == 1


def test_the_most_valuable_lines_come_first():
    assert chosen(offered("c_c", "a_a", "b_b"), 100) == ["a_a", "b_b", "c_c"]


def test_what_is_covered_once_is_not_paid_for_twice():
    assert chosen(offered("a_a", "a_a b_b", "a_a again"), 100) == ["a_a", "a_a b_b"]
    assert chosen(offered("a_a", "b_b"), 100, covered=["a_a"]) == ["b_b"]


def test_opening_a_message_costs_extra_once():
    same = offered("a_a", "b_b", message=7)
    assert len(chosen(same, 2 * (3 + LINE_TOKENS) + 50, opening=lambda _: 50.0)) == 2
    assert (
        len(chosen(offered("a_a", "b_b"), 2 * (3 + LINE_TOKENS) + 50, opening=lambda _: 50)) == 1
    )


def test_a_line_that_leads_is_counted_exactly():
    assert chosen(offered("a_a"), 10, exact=lambda _: 1_000) == []
    assert chosen(offered("a_a"), 10, exact=lambda _: 1) == ["a_a"]


@given(
    st.lists(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=3), max_size=20),
    st.integers(0, 80),
)
def test_the_budget_is_never_passed(named, budget):
    found = offered(*(" ".join(words) for words in named))
    taken = select(found, VALUES, budget)
    assert sum(candidate.cost for candidate in taken) <= budget
