"""How sure a mean is: the bootstrap over clusters."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RESAMPLES = 2_000
SEED = 7


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with the ends of its interval; ``count`` is how many values it is of."""

    mean: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.low == self.high:  # of one session nothing follows for others
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} ({self.low:.3f}–{self.high:.3f})"


def clustered(
    values: Mapping[str, Sequence[float]],
    *,
    sure: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Estimate | None:
    """
    Estimate the mean of values that come in clusters, such as the cuts of one session.

    Whole clusters are drawn with replacement, because values of one session resemble each other
    (the cluster bootstrap; Davison and Hinkley, Bootstrap Methods, 1997, section 3.8).

    Args:
        values: The values of each cluster, by its name.
        sure: How much of the resampled means the interval holds, a fraction.
        resamples: How often to draw.
        seed: Where the draws begin: the same values give the same interval.

    Returns:
        The mean of all values with its percentile interval; None without a value.
    """
    sums = [(sum(found), len(found)) for _, found in sorted(values.items()) if found]
    if not sums:
        return None
    total, count = sum(s for s, _ in sums), sum(n for _, n in sums)
    draw = random.Random(seed)  # noqa: S311  # no secret: the same interval on every run
    means = sorted(_mean(draw.choices(sums, k=len(sums))) for _ in range(resamples))
    cut = (1 - sure) / 2
    low, high = means[int(cut * resamples)], means[min(resamples - 1, int((1 - cut) * resamples))]
    return Estimate(total / count, low, high, count)


def _mean(drawn: list[tuple[float, int]]) -> float:
    return sum(s for s, _ in drawn) / sum(n for _, n in drawn)
