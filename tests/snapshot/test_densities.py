"""Densities: a statement that an account tells already is worth less, for its size."""

import pytest

from foldline.snapshot.densities import Densities
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import SourceText
from foldline.snapshot.worth import SIZE_POWER, Judge, cost

JUDGE = Judge({"load_all": 1.0}, Focus())
TEXT = "The cache of load_all was stale because nobody cleared it."


def density(account="", text=TEXT, extra=0.0):
    source = SourceText(1, 0, "agent", text, "1f0c2a", 0.25, 1.0)
    slices = [(0, len(text))]
    costs = [cost(source, 0, len(text))]
    (found,) = Densities(JUDGE, account).of(source, slices, costs, {0: extra} if extra else {})
    return found * costs[0] ** SIZE_POWER


def test_a_statement_is_worth_what_it_is_judged_and_what_else_speaks_for_it():
    source = SourceText(1, 0, "agent", TEXT, "1f0c2a", 0.25, 1.0)
    judged = next(JUDGE.worths(source, [(0, len(TEXT))]))
    assert density() == pytest.approx(judged)
    assert density(extra=2.0) == pytest.approx(judged + 2.0)


def test_what_an_account_tells_is_worth_less_and_an_exact_value_that_it_lacks_more():
    known = density(TEXT)
    lacking = density(TEXT.replace("load_all", "the loader"))
    assert known < lacking < density("Something else was found.") <= density()


def test_a_statement_is_worth_less_for_its_size_where_it_takes_more():
    source = SourceText(1, 0, "agent", f"{TEXT}\n{TEXT}", "1f0c2a", 0.25, 1.0)
    slices = [(0, len(TEXT)), (len(TEXT) + 1, 2 * len(TEXT) + 1)]
    cheap, dear = Densities(JUDGE).of(source, slices, [10.0, 20.0], {})
    assert cheap == pytest.approx(dear * 2**SIZE_POWER)
