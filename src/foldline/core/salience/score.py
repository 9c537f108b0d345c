"""
The probability that the model will use an item again.

A logistic model over eight numbers, fitted by ``bench/fit_salience.py`` on what the assistant of
real sessions wrote in the thirty steps after a cut although nothing had brought it back.
"""

from __future__ import annotations

from math import exp, log1p

from foldline.core.salience.index import SalienceIndex, Use
from foldline.core.salience.weights import BIAS, KIND, WEIGHTS

NEVER = 2.0
"""Added to the logarithm of the number of steps for an item that the assistant never wrote."""


def features(use: Use, steps: int) -> tuple[float, ...]:
    """
    Describe how an item was used.

    Returns:
        log(1 + uses by the assistant); log(1 + steps since the last mention) and its square;
        log(1 + steps since the assistant's last use) and its square; whether it used the item at
        all; the position of the last mention as a fraction; log(1 + items in the least crowded
        step) and its square; log(1 + steps with it); whether the item is brand new.
    """
    never = use.spoken_last < 0
    ago = log1p(steps - 1 - use.last)
    spoken_ago = log1p(steps) + NEVER if never else log1p(steps - 1 - use.spoken_last)
    crowd = log1p(use.crowd)
    return (
        log1p(use.spoken),
        ago,
        ago * ago,
        spoken_ago,
        0.0 if never else spoken_ago * spoken_ago,
        0.0 if never else 1.0,
        (use.last + 1) / max(1, steps),
        crowd,
        crowd * crowd,
        log1p(use.steps),
        1.0 if steps - use.first < 4 else 0.0,
    )


def probability(use: Use, steps: int) -> float:
    """Return the probability of further use, a fraction."""
    total = BIAS + KIND[use.kind]
    for weight, value in zip(WEIGHTS, features(use, steps), strict=True):
        total += weight * value
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def values(index: SalienceIndex) -> dict[str, float]:
    """Return the probability of further use of every item of a conversation."""
    return {item: probability(use, index.steps) for item, use in index.uses.items()}
