"""What is known about a model: its limits, its prices, and how its prompt cache works."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from foldline.core.budget import UNKNOWN_WINDOW
from foldline.values.messages import Usage

UNKNOWN_OUTPUT: Final = 8_192
"""Output cap assumed for an unknown model, in tokens."""

MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars for a million tokens; writing to and reading from the cache may have no price."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None

    def of(self, usage: Usage) -> float:
        """Return what was used costs, in US dollars; without a cache price, as fresh input."""
        write = self.input if self.cache_write is None else self.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        return (
            usage.input * self.input
            + usage.output * self.output
            + usage.cache_write * write
            + usage.cache_read * read
        ) / MILLION


@dataclass(frozen=True, slots=True)
class CacheRules:
    """
    How a provider caches the beginning of a prompt.

    ``seconds`` is how long a prefix lives after its last use, ``least`` how many tokens it must
    have. ``write`` and ``read`` are what a token costs then, as a factor of fresh input. An
    "explicit" cache keeps what the request marks, an "automatic" one whatever it can.
    """

    kind: Literal["automatic", "explicit", "none"] = "none"
    seconds: float = 0.0
    least: int = 0
    write: float = 1.0
    read: float = 1.0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """
    One model.

    ``window`` is what request and answer may take together, ``input`` the most that a request may
    take where that is less, ``output`` the most that an answer may take: all in tokens.
    ``long`` are the prices from a request of more than ``long_above`` tokens on. ``tokens`` names
    the vocabulary, ``light`` the cheaper sibling, "" where there is none. ``thinks`` says that
    reasoning is part of its output unless it is told otherwise. ``as_of`` is the day on which
    ``source`` said so. ``resolved`` is False for a model that is not known: then the limits are
    assumed.
    """

    name: str
    window: int = UNKNOWN_WINDOW
    output: int = UNKNOWN_OUTPUT
    input: int | None = None
    provider: str = ""
    prices: Prices | None = None
    long: Prices | None = None
    long_above: int = 0
    cache: CacheRules = field(default_factory=CacheRules)
    tokens: str = ""
    light: str = ""
    thinks: bool = False
    as_of: str = ""
    source: str = field(default="", repr=False)
    resolved: bool = True

    @property
    def readable(self) -> int:
        """The most tokens that a request may take."""
        return self.window if self.input is None else min(self.input, self.window)


def price(model: ModelInfo, usage: Usage) -> float | None:
    """
    Return what a request costs, in US dollars; None when the prices are not known.

    What was read from the cache and written to it is priced as such. A long request is priced as
    one: providers count everything that was read, cached or not, and then charge all of it so.
    """
    read = usage.input + usage.cache_read + usage.cache_write
    prices = model.long if model.long and read > model.long_above else model.prices
    return None if prices is None else prices.of(usage)
