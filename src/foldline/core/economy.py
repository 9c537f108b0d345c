"""
The cost of a compaction and when it has paid for itself: arithmetic with token prices.

The unit is the price of one fresh input token. Writing a token to a provider's prompt cache costs
1.25 of it, reading one back 0.1, an output token 5: the prices of Anthropic and, for reads, of
OpenAI. Every formula accepts other factors.

A request reads the whole context from the cache. A compaction removes some of it, which every
later request saves; but the next request must write everything after the first change again.
"""

from __future__ import annotations

from typing import Any, Final

from foldline.core.validation import whole
from foldline.errors import BudgetError
from foldline.frozen import frozen, to_dict

WRITE: Final = 1.25
READ: Final = 0.10
OUTPUT: Final = 5.0

PAY_BACK: Final = (WRITE - READ) / READ
"""Requests after which clearing has paid, if as many tokens follow as were removed: 11.5."""


@frozen
class Factors:
    """The cost of a token that is written to the cache, read from it, or output."""

    write: float = WRITE
    read: float = READ
    output: float = OUTPUT


def pays_after(
    freed: float,
    *,
    behind: float = 0.0,
    added: float = 0.0,
    summary_cost: float = 0.0,
    factors: Factors | None = None,
) -> float | None:
    """
    Return the number of requests after which a compaction has paid, None if it never does.

    The next request writes ``behind`` tokens that the cache held and ``added`` new tokens; then
    every request reads ``freed`` tokens fewer:
    ``(summary_cost + (write - read)·behind + write·added) / (read·freed)``.

    Args:
        freed: Tokens removed from the context.
        behind: Remaining tokens after the first removed one; 0 if the cache is cold.
        added: Tokens of the summary.
        summary_cost: Cost of the summary, in input tokens: the tokens that its model read, at
            their price, and ``factors.output`` times those it wrote.
        factors: Cost of tokens.
    """
    price = factors or Factors()
    if freed <= 0:
        return None
    paid = summary_cost + (price.write - price.read) * behind + price.write * added
    if paid <= 0:
        return 0.0
    return paid / (price.read * freed) if price.read > 0 else None


@frozen
class CostEstimate:
    """
    The estimated cost and savings of a compaction.

    A model would get about ``asks`` requests, read about ``input_tokens`` and write at most
    ``output_tokens`` tokens; ``usd`` is the price of that, None if it is unknown, and 0 if no
    model is called. The messages would be ``freed`` tokens smaller; the next request would write
    ``rewritten`` of the remaining tokens to the cache again (0 if ``cold``). It would have paid
    after ``requests`` further requests, None if it never does; from then on each request is
    ``saved_usd`` US dollars cheaper, None if the price is unknown.
    """

    status: str
    reason: str
    asks: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    freed: int = 0
    rewritten: int = 0
    cold: bool = False
    requests: float | None = None
    saved_usd: float | None = None

    def __str__(self) -> str:
        if self.status != "compacted":
            return f"nothing would change: {self.reason}"
        price = "an unknown price" if self.usd is None else f"at most {self.usd:.4f} US dollars"
        usage = "no model is called"
        if self.asks:
            usage = (
                f"a model reads about {self.input_tokens:,} tokens and writes at most "
                f"{self.output_tokens:,}, for {price}"
            )
        pays = "never" if self.requests is None else f"after {self.requests:.1f} requests"
        return f"frees {self.freed:,} tokens; {usage}; pays {pays}"

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as JSON values."""
        return to_dict(self)


KEEP = 32_000
"""
Remaining tokens of a fold made only for its price. `bench/cost.py` measures the loss: with this
size, 0.994 of what an agent needs next is still in view.
"""


@frozen
class Economy:
    """
    Settings for folding a session before its window fills, if that is cheaper.

    It is folded to ``keep`` tokens, once reading more than these has cost as much as folding. That
    matters in a large window: if the target of a compaction is ``keep`` or less, nothing is done
    early. Only the policy "default" uses it.

    Raises:
        BudgetError: ``keep`` is not a number of at least 1,000 tokens.
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
    The growth of a session since it was last folded, or started.

    It grew from ``start`` to ``fill`` tokens within a number of ``requests``.
    """

    start: int
    fill: int
    requests: float

    def above(self, tokens: int) -> float:
        """Return the total tokens read above a size by all requests, assuming even growth."""
        if self.fill <= tokens:
            return 0.0
        if self.start >= tokens:
            return self.requests * ((self.start + self.fill) / 2 - tokens)
        return self.requests * (self.fill - tokens) ** 2 / (2 * (self.fill - self.start))


@frozen
class Saving:
    """
    A fold that is due for its price.

    Prices are in tokens of fresh input: ``read`` is the cost of reading above the ``target``,
    ``rewrite`` the cost of folding. It has paid after ``requests`` more requests.
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
    Return the saving of a fold that is due for its price, None if it is not due.

    Args:
        economy: The settings.
        course: The growth of the session.
        target: The target of a compaction when the window is full, in tokens.
        summary_cost: The cost of a model summary, in input tokens.
        cold: Whether the provider's cache has expired: then the next request writes the remaining
            tokens anyway, and folding costs only the model.
        factors: Cost of tokens.
    """
    price = factors or Factors()
    keep = economy.keep
    # Require half as much again, or a fold would forget content for little gain.
    if not economy.enabled or target <= keep or course.fill < 1.5 * keep or price.read <= 0:
        return None
    rewrite = summary_cost + (0.0 if cold else max(0.0, price.write - price.read) * keep)
    read = price.read * course.above(keep)
    if read < rewrite:
        return None
    return Saving(keep, read, rewrite, rewrite / (price.read * (course.fill - keep)))
