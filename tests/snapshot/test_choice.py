from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly

from foldline.snapshot.choice import POWER, REPEATED, SAME, Choice, Ranking, Statement
from foldline.snapshot.sources import SourceText

CAUSE = "The linker fails because the archive lacks symbols."
AGAIN = "The archive lacks symbols, because the linker fails."
OTHER = "Users reported the timeout yesterday."


def choice_of(worths, elsewhere=()):
    """Return a choice among texts of ten tokens each, with their worth."""
    sources = [
        SourceText(n, 0, "agent", text, "", 0.25, 1.0) for n, (text, _) in enumerate(worths)
    ]
    ranking = Ranking()
    for number, (text, worth) in enumerate(worths):
        ranking.add(number, [(0, len(text))], [10.0], [worth])
    return Choice(ranking, sources, elsewhere)


def chosen(worths, space=100.0, elsewhere=()):
    """Choose among texts of ten tokens each; return them, the best first."""
    rows = list(worths.items())
    found = choice_of(rows, elsewhere).within(space)
    return [rows[number][0] for number in found]


def test_the_most_telling_come_first_as_far_as_they_fit():
    assert chosen({CAUSE: 1.0, OTHER: 2.0}) == [OTHER, CAUSE]
    assert chosen({CAUSE: 1.0, OTHER: 2.0}, space=20.0) == [OTHER]
    assert chosen({CAUSE: 1.0, OTHER: 0.0}) == [CAUSE]


def test_what_says_the_same_again_gives_way_to_what_is_new():
    assert chosen({CAUSE: 1.0, AGAIN: 0.9, OTHER: 0.6}) == [CAUSE, OTHER, AGAIN]


def test_what_stands_elsewhere_gives_way_and_its_lines_are_not_repeated():
    assert chosen({CAUSE: 1.0, OTHER: 0.6}, elsewhere=[AGAIN]) == [OTHER, CAUSE]
    assert chosen({CAUSE: 1.0, OTHER: 0.6}, elsewhere=[CAUSE]) == [OTHER]


def test_the_same_choice_is_made_for_the_same_space_however_often():
    choice = choice_of([(f"{w} told us about {w}", 1.0) for w in ("linker", "archive", "timeout")])
    assert choice.within(30.0) == choice.within(30.0)
    assert len(choice.within(14.0)) == 1


def test_a_smaller_space_holds_the_best_of_what_a_greater_one_does():
    rows = [(f"{word} told us about {word}", worth) for worth, word in enumerate(WORDS, 1)]
    choice = choice_of(rows)
    for space in (70.0, 29.0, 43.0):
        assert choice.within(space) == choice_of(rows).within(space)


WORDS = ("linker", "archive", "timeout", "symbols", "scanner")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@given(st.dictionaries(TEXTS, st.floats(0.1, 9.0), max_size=6))
def test_every_statement_adds_the_most_to_those_before_it(worths):
    """The choice is lazy; the sum is taken anew of everything here."""

    def adds(text):
        words = set(text.split())
        share = len(words & known) / len(words)
        return worths[text] * (1 - REPEATED * share**POWER)

    known, left = set[str](), set(worths)
    for text in chosen(worths, space=1_000.0):
        assert adds(text) >= SAME * max(map(adds, left)) - 1e-9
        known |= set(text.split())
        left.remove(text)
    assert left == set()


def repeating(size):
    """Return a choice among so many statements that have half of their words in common."""
    rows = [(f"number {n} repeats the very same words {n * n}", 1.0 + n % 7) for n in range(size)]
    return choice_of(rows), 5.0 * size


def test_choosing_grows_linearly_however_much_is_repeated():
    assert grows_linearly(lambda made: made[0].within(made[1]), repeating, 2_000, 16_000)


def test_several_outputs_tell_more_than_much_of_one():
    first, second = ("Alpha beta gamma.\nDelta epsilon zeta.", "Eta theta iota kappa.")
    sources = [SourceText(n, 0, "result", t, "", 5.0, 1.0) for n, t in enumerate((first, second))]
    places = [(0, 0, 17), (0, 18, 38), (1, 0, 21)]
    ranking = Ranking()
    ranking.add(0, [place[1:] for place in places[:2]], [90.0, 90.0], [1.0, 0.9])
    ranking.add(1, [places[2][1:]], [90.0], [0.8])
    found = [ranking[number] for number in Choice(ranking, sources).within(1_000.0)]
    assert [(one.source, one.start, one.end) for one in found] == [places[0], places[2], places[1]]


def test_an_output_that_shows_again_what_was_shown_gives_way_to_one_that_does_not():
    texts = ("alpha beta gamma delta", "delta gamma beta alpha", "other words stand here")

    def order(speaker):
        sources = [SourceText(n, 0, speaker, t, "", 0.25, 1.0) for n, t in enumerate(texts)]
        ranking = Ranking()
        for number, (text, worth) in enumerate(zip(texts, (1.0, 0.9, 0.2), strict=True)):
            ranking.add(number, [(0, len(text))], [10.0], [worth])
        return [ranking[number].source for number in Choice(ranking, sources).within(100.0)]

    assert order("result") == [0, 2, 1]
    assert order("user") == [0, 1, 2]


def test_what_a_user_pasted_gives_way_to_what_else_is_told():
    log = "\n".join(f"Row {n} of a pasted log with word{n}" for n in range(120))
    sources = [SourceText(0, 0, "user", log, "", 0.25, 1.0)]
    sources.append(SourceText(1, 0, "agent", CAUSE, "", 0.25, 1.0))
    half = log.index("Row 60 ")
    ranking = Ranking()
    ranking.add(0, [(0, half), (half, len(log))], [500.0, 500.0], [1.0, 0.9])
    ranking.add(1, [(0, len(CAUSE))], [10.0], [0.8])
    found = Choice(ranking, sources).within(5_000.0)
    assert [ranking[number].source for number in found] == [0, 1, 0]


def test_a_new_value_counts_in_full_although_its_words_are_known():
    old = "I decided to use port 1111 for the scanner."
    new = "I decided to use port 2222 for the scanner."
    assert chosen({old: 1.0, new: 0.9, OTHER: 0.8}) == [old, new, OTHER]


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
