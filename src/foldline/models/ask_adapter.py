"""From an Ask to a request, and from what came of it to a Reply."""

from __future__ import annotations

from typing import Final

from foldline.core.asks import ModelLimits, Reply, Stop
from foldline.errors import ModelError
from foldline.frozen import frozen
from foldline.models.completion import Completion
from foldline.models.errors import TooLong
from foldline.models.info import ModelInfo, price
from foldline.redaction import explain_error
from foldline.values.messages import Usage

MARGIN_SHARE, MARGIN_MOST = 50, 4_096
"""Kept free for counting errors: this part of the window, and so many tokens at most."""

FRAME: Final = 16
"""Tokens that a request takes around its texts."""

REASONS: Final[dict[Stop, str]] = {
    "refusal": "the model declined",
    "overflow": "the model's window was full before the answer was whole",
    "tools": "the model asked for a tool instead of answering",
}
"""Why an answer that stopped so is none."""


@frozen
class PricedReader(ModelLimits):
    """
    A reader that knows its model's prices exactly, those for long requests included.

    ``thinking`` is what it may write before its answer, in tokens.
    """

    info: ModelInfo | None = None
    thinking: int = 0

    def usd(self, read: int, written: int) -> float | None:
        """Return what so many tokens cost at most, in US dollars; None when that is unknown."""
        if self.info is None:
            return None
        return price(self.info, Usage(read, written + self.thinking))


def reader_of(name: str, info: ModelInfo, thinking: int) -> PricedReader:
    """Return who answers to a name, with the limits and prices of a model."""
    prices = info.prices
    return PricedReader(
        window=info.readable,
        output=info.output,
        name=name,
        input_usd=None if prices is None else prices.input,
        output_usd=None if prices is None else prices.output,
        info=info,
        thinking=thinking,
    )


def output_cap(requested: int, info: ModelInfo, prompt: int) -> int:
    """
    Return what an answer may take, in tokens.

    Args:
        requested: What is asked for.
        info: The model: its output cap and its window are kept.
        prompt: What the request takes.

    Returns:
        At least 1, even where the request alone seems to fill the window: the count may be wrong.
    """
    margin = min(MARGIN_MOST, info.window // MARGIN_SHARE)
    return max(1, min(requested, info.output, info.window - prompt - margin))


def to_reply(done: Completion, name: str) -> Reply:
    """
    Judge an answer.

    A refusal, an overflow and a call for a tool give no text, so that none of them is taken for
    an answer; an answer that was cut off is given, and its stop is "length".

    Args:
        done: The answer.
        name: Whom it was asked of; providers answer under longer names.
    """
    reason = REASONS.get(done.stop, "")
    if not reason and not done.text.strip():
        cut = done.stop == "length"
        reason = "the answer was cut off before it began" if cut else "the answer is empty"
    answer = "" if reason else done.text
    if done.refusal and done.stop == "refusal":
        reason = f"{reason}: {' '.join(done.refusal.split())[:200]}"
    return Reply(
        answer,
        reason,
        done.stop,
        retry=done.stop not in ("refusal", "overflow"),
        model=name,
        usage=done.usage,
        usd=done.usd,
        seconds=done.seconds,
        attempts=done.attempts,
    )


def error_reply(error: Exception, model: str, *, seconds: float, attempts: int) -> Reply:
    """Return the Reply for an exception: what went wrong, and whether asking again may help."""
    return Reply(
        error=error.message if isinstance(error, ModelError) else explain_error(error),
        stop="overflow" if isinstance(error, TooLong) else "unknown",
        retry=isinstance(error, ModelError) and error.retry,
        limit=error.limit if isinstance(error, TooLong) else None,
        model=model,
        seconds=seconds,
        attempts=attempts,
    )
