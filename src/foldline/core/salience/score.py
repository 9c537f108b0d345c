"""
The probability that the model will use an item again.

Two logistic models, for items that the assistant has written before and for those that it has
only seen, fitted by ``bench/fit_salience.py`` on what the assistant of real sessions wrote in the
thirty steps after a cut although nothing had brought it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, log1p
from operator import mul

from foldline.core.names import Kind, known_kinds, subwords
from foldline.core.salience.index import SalienceIndex, Use
from foldline.core.salience.weights import NEW, SPOKEN

ECHO_STEPS = 10.0
"""After so many steps a word that was said counts half."""


FLATNESS = 0.8
"""
Exponent of a probability where items compete: below 1, more names of less promise are kept. Chosen
on recorded sessions; 0.7 and 0.85 do nearly as well.
"""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """
    What the conversation as a whole says about its items.

    ``interest`` is by step the fraction of the items shown there last that the assistant took up,
    ``habit`` by kind the logarithm of the fraction of its items that it took up, and ``echo`` by
    word how recently somebody said it, from 0 to 1.
    """

    steps: int
    interest: Mapping[int, float]
    habit: Mapping[Kind, float]
    echo: Mapping[str, float]

    @classmethod
    def of(cls, index: SalienceIndex) -> Surroundings:
        """Look at a whole conversation."""
        speakers = index.speakers
        own = [item for item, step in index.single.items() if speakers[step] == "assistant"]
        shown = Counter(index.single.values())
        for item in own:
            shown[index.single[item]] -= 1
        shown[-1] += len(own)
        taken = Counter({-1: len(own)})
        kinds = Counter(map(known_kinds.__getitem__, index.single))
        kinds_taken = Counter(map(known_kinds.__getitem__, own))
        for use in index.repeated.values():
            shown[use.shown_last] += 1
            kinds[use.kind] += 1
            if use.spoken:
                taken[use.shown_last] += 1
                kinds_taken[use.kind] += 1
        return cls(
            index.steps,
            {step: taken[step] / (count + 2) for step, count in shown.items()},
            {
                kind: log((kinds_taken[kind] + 1) / (count + 20))
                for kind, count in kinds.items()
                if kind
            },
            {
                word: 1 / (1 + (index.steps - last) / ECHO_STEPS)
                for word, last in index.words.items()
            },
        )


def features(item: str, use: Use, around: Surroundings) -> tuple[float, ...]:
    """
    Describe how an item was used.

    Returns:
        log(1 + steps since the last mention) and its square; log(1 + steps since the assistant's
        last use) and its square, 0 without one; log(1 + uses by the assistant); position of the
        last mention as a fraction; log(1 + items in the least crowded step) and its square;
        log(1 + steps with it); whether it is brand new; interest in its step; log(1 + times it
        occurs, in all and in one step); habit for its kind; mean echo of the words it is made of.
    """
    ago = log1p(around.steps - 1 - use.last)
    spoken_ago = 0.0 if use.spoken_last < 0 else log1p(around.steps - 1 - use.spoken_last)
    crowd = log1p(use.crowd)
    made_of = subwords(item)
    echo = sum(around.echo.get(word, 0.0) for word in made_of) / (len(made_of) or 1)
    return (
        ago,
        ago * ago,
        spoken_ago,
        spoken_ago * spoken_ago,
        log1p(use.spoken),
        (use.last + 1) / max(1, around.steps),
        crowd,
        crowd * crowd,
        log1p(use.steps),
        1.0 if around.steps - use.first < 4 else 0.0,
        around.interest[use.shown_last],
        log1p(use.times),
        log1p(use.burst),
        around.habit[use.kind],
        echo,
    )


def probability(item: str, use: Use, around: Surroundings) -> float:
    """Return the probability of further use of one item, a fraction."""
    model = SPOKEN if use.spoken else NEW
    total = model.bias + model.kind[use.kind]
    total += sum(map(mul, model.weights, features(item, use, around)))
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


def value(item: str, use: Use, around: Surroundings) -> float:
    """Return what an item is worth where items compete for room, from 0 to 1."""
    return float(probability(item, use, around) ** FLATNESS)


def values(index: SalienceIndex) -> dict[str, float]:
    """Return what every item of a conversation is worth, from 0 to 1."""
    around = Surroundings.of(index)
    found = {item: value(item, use, around) for item, use in index.repeated.items()}
    # Of the items that one step alone mentions, and once, those of a kind are much alike.
    alike: dict[tuple[int, Kind | None], float] = {}
    for item, step in index.single.items():
        key = step, known_kinds[item]
        worth = alike.get(key)
        if worth is None:
            worth = alike[key] = value(item, index.once(item, step), around)
        found[item] = worth
    return found
