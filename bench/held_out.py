"""
What is kept by a ranking that has not seen the source it is measured on.

The weights of `foldline.core.salience` were fitted on the recorded sessions. Here they are fitted
anew for every group of source folders, on all the others, and measured on that group:
``python bench/retention.py --held-out``. Fitting needs numpy and scikit-learn.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from foldline.core.salience.model import Model

import cuts
from cuts import Case
from foldline.evaluation.kept import Score

FOLDS = 4

Models = tuple[Model, Model]
Fit = Callable[[frozenset[str]], Models]
"""Fits the models for new and for spoken items, without sessions of some source folders."""


@contextmanager
def weighing(models: Models) -> Iterator[None]:
    """Rank by other weights, in this process and in those that it forks meanwhile."""
    places = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("foldline.core.salience") and hasattr(module, "SPOKEN")
    ]
    before = [(module, module.NEW, module.SPOKEN) for module in places]
    try:
        for module in places:
            module.NEW, module.SPOKEN = models
        yield
    finally:
        for module, new, spoken in before:
            module.NEW, module.SPOKEN = new, spoken


def held_out(
    shared: Path, cases: Sequence[Case], shares: Sequence[float], fit: Fit | None = None
) -> list[Score]:
    """
    Score every case with weights that were fitted without its source folder.

    Args:
        shared: The folder of sessions and measure.
        cases: What is measured.
        shares: Budgets, as shares of the history.
        fit: How to fit; default by logistic regression, as the weights that are shipped.
    """
    from retention import ours

    fitted = fit or regression(shared)
    folders = sorted({case.source for case in cases})
    scores = []
    for held in (folders[number::FOLDS] for number in range(FOLDS)):
        here = [case for case in cases if case.source in held]
        if here:
            with weighing(fitted(frozenset(held))):
                scores += ours(shared, here, shares, "default")
    return scores


def regression(shared: Path) -> Fit:
    """Return the fit of ``fit_salience.py``, over samples that are taken once."""
    import fit_salience

    # Not shadowed by the bench's script of that name.
    sys.modules["corpus"] = cuts.tool(shared, "corpus")
    known = sys.modules.get("retention")
    sys.modules["retention"] = cuts.tool(shared, "retention")
    try:
        parts = list(fit_salience.samples(shared))
    finally:
        del sys.modules["retention"]
        if known is not None:
            sys.modules["retention"] = known

    def fit(held: frozenset[str]) -> Models:
        rest = [part for part in parts if part[0] not in held]
        new, spoken = (_model(fit_salience.fit(rest, said)) for said in (False, True))
        return new, spoken

    return fit


def _model(fitted: Any) -> Model:
    from foldline.core.names import KINDS

    weights = [float(weight) for weight in fitted.coef_[0]]
    kinds = dict(zip(KINDS, weights[-len(KINDS) :], strict=True))
    return Model(float(fitted.intercept_[0]), tuple(weights[: -len(KINDS)]), kinds)
