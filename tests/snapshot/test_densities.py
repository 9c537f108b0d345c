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
    densities = Densities(JUDGE, [source], account)
    densities.add(0, JUDGE.words(text, slices), {0: extra} if extra else {})
    return densities(0, 0, 0, len(text)) * cost(source, 0, len(text)) ** SIZE_POWER


def test_a_statement_is_worth_what_it_is_judged_and_what_else_speaks_for_it():
    source = SourceText(1, 0, "agent", TEXT, "1f0c2a", 0.25, 1.0)
    judged = next(JUDGE.worths(source, [(0, len(TEXT))]))
    assert density() == pytest.approx(judged)
    assert density(extra=2.0) == pytest.approx(judged + 2.0)


def test_what_an_account_tells_is_worth_less_and_an_exact_value_that_it_lacks_more():
    known = density(TEXT)
    lacking = density(TEXT.replace("load_all", "the loader"))
    assert known < lacking < density("Something else was found.") <= density()


def test_statements_are_numbered_through_all_sources():
    sources = [SourceText(n, 0, "agent", TEXT, "1f0c2a", 0.25, 1.0) for n in range(2)]
    densities = Densities(JUDGE, sources)
    for first in range(2):
        densities.add(first, JUDGE.words(TEXT, [(0, len(TEXT))]), {})
    assert densities(0, 0, 0, len(TEXT)) == densities(1, 1, 0, len(TEXT))
