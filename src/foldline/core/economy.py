"""
What a compaction costs and when it has paid for itself: arithmetic with prices of tokens.

The unit is the price of one fresh input token. Writing a token to a provider's prompt cache costs
1.25 of it, reading one back 0.1, an output token 5: so price Anthropic and, for what is read,
OpenAI. Every formula takes other factors.

A request reads the whole context from the cache. A compaction removes some of it, which every
later request saves; but the next request has to write what lies behind the first change anew.
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
"""Requests after which clearing has paid, for as many tokens removed as lie behind them: 11.5."""


@frozen
class Factors:
    """What a token costs that is written to the cache, read from it, or output."""

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
    Return after how many requests a compaction has paid, None when it never does.

    The next request writes ``behind`` tokens that the cache held and ``added`` tokens that are
    new; then every request reads ``freed`` tokens fewer:
    ``(summary_cost + (write - read)·behind + write·added) / (read·freed)``.

    Args:
        freed: Tokens that the context is smaller.
        behind: Tokens that stay, after the first one that was removed; 0 when the cache is cold.
        added: Tokens of the summary.
        summary_cost: What the summary cost, in the price of input tokens: what its model read, at
            the price of that, and ``factors.output`` times what it wrote.
        factors: What tokens cost.
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
    What a compaction would cost and save, before it is paid.

    A model would get about ``asks`` requests, read about ``input_tokens`` and write at most
    ``output_tokens`` tokens; ``usd`` is the price of that, None when it is not known, and 0 when
    no model is called. The messages would be ``freed`` tokens smaller; the next request would
    write ``rewritten`` of the tokens that stay to the cache again (0 when ``cold``). It would
    have paid after ``requests`` further requests, None when it never does; from then on each
    request is ``saved_usd`` US dollars cheaper, None when the price is not known.
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
