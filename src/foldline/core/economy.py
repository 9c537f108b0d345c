"""
When it is cheaper to fold early than to go on reading.

Every request reads the whole context from the provider's prompt cache. What lies above a
comfortable size is paid for again and again, and folding it away once costs what the rest is
written for. How many requests are still to come is unknown; folding once the extra reading
has cost as much as folding does never pays more than twice the best choice in hindsight: the
break-even rule of the ski-rental problem (Karlin, Manasse, Rudolph and Sleator, 1988).
"""

from __future__ import annotations

from foldline.core.cost import Factors
from foldline.core.validation import whole
from foldline.errors import BudgetError
from foldline.frozen import frozen

KEEP = 32_000
"""
Tokens that stay when it is folded for the price alone. `bench/cost.py` measures what is lost: with
as many, 0.994 of what an agent needs next is still in view.
"""


@frozen
class Economy:
    """
    Whether a session is folded before its window fills, where that is cheaper.

    It is folded to ``keep`` tokens, once reading more than these has cost as much as folding.
    That matters in a large window: where the target of a compaction is ``keep`` or less, nothing
    is done early. Only the policy "default" heeds it.

    Raises:
        BudgetError: ``keep`` is no number of tokens from 1,000 on.
    """

    enabled: bool = True
    keep: int = KEEP

    def __post_init__(self) -> None:
        if not isinstance(self.enabled, bool):
            raise BudgetError(f"economy.enabled must be true or false, not {self.enabled!r:.40}.")
        whole("economy.keep", self.keep, 1_000)


@frozen
class Course:
    """
    How a session went since it was folded last, or began.

    It grew from ``start`` to ``fill`` tokens within so many ``requests``.
    """

    start: int
    fill: int
    requests: float

    def above(self, tokens: int) -> float:
        """Return what all its requests together read above a size, in tokens; growth is even."""
        if self.fill <= tokens:
            return 0.0
        if self.start >= tokens:
            return self.requests * ((self.start + self.fill) / 2 - tokens)
        return self.requests * (self.fill - tokens) ** 2 / (2 * (self.fill - self.start))


@frozen
class Saving:
    """
    A fold that is due for its price.

    Prices are in tokens of fresh input: ``read`` is what reading above the ``target`` has cost,
    ``rewrite`` what folding costs. It has paid after ``requests`` more requests.
    """

    target: int
    read: float
    rewrite: float
    requests: float

    def __str__(self) -> str:
        return (
            f"economy: reading more than {self.target:,} tokens has cost as much as "
            f"{self.read:,.0f} tokens of input, folding costs {self.rewrite:,.0f}; it pays after "
            f"{self.requests:.0f} requests"
        )


def saving(
    economy: Economy,
    course: Course,
    target: int,
    *,
    summary_cost: float = 0.0,
    cold: bool = False,
    factors: Factors | None = None,
) -> Saving | None:
    """
    Return True if folding is due for its price.

    Args:
        economy: Whether to look, and what stays.
        course: How the session went.
        target: What a compaction aims for when the window is full, in tokens.
        summary_cost: What a model costs that tells what happened, in tokens of input.
        cold: Whether the provider's cache has expired: then the next request writes what stays
            in any case, and folding costs no more than the model.
        factors: What tokens cost.
    """
    price = factors or Factors()
    keep = economy.keep
    # Half as much again, or a fold would forget for next to nothing.
    if not economy.enabled or target <= keep or course.fill < 1.5 * keep or price.read <= 0:
        return None
    rewrite = summary_cost + (0.0 if cold else max(0.0, price.write - price.read) * keep)
    read = price.read * course.above(keep)
    if read < rewrite:
        return None
    return Saving(keep, read, rewrite, rewrite / (price.read * (course.fill - keep)))
