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
