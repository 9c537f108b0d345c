"""From an Ask to a request, and from what came of it to a Reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from foldline.core.asks import Ask, ModelLimits, Reply, Stop
from foldline.errors import ModelError
from foldline.models.completion import Completion, CompletionRequest
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


@dataclass(frozen=True, slots=True)
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
        info.readable,
        info.output,
        name,
        None if prices is None else prices.input,
        None if prices is None else prices.output,
        info=info,
        thinking=thinking,
    )


def output_cap(wanted: int, info: ModelInfo, prompt: int) -> int:
    """
    Return what an answer may take, in tokens.

    Args:
        wanted: What is asked for.
        info: The model: its output cap and its window are kept.
        prompt: What the request takes.

    Returns:
        At least 1, even where the request alone seems to fill the window: the count may be wrong.
    """
    margin = min(MARGIN_MOST, info.window // MARGIN_SHARE)
    return max(1, min(wanted, info.output, info.window - prompt - margin))


def completion_request(
    ask: Ask, name: str, info: ModelInfo, *, prompt: int, thinking: int
) -> CompletionRequest:
    """
    Write an Ask as a request: plain text, and no tools.

    Args:
        ask: What is asked.
        name: The model, as the provider calls it.
        info: What is known about it.
        prompt: What the texts of the Ask take, in tokens.
        thinking: What reasoning may take beside the answer, in tokens.
    """
    # All three protocols understand a user's message in this shortest form.
    messages = [{"role": "user", "content": ask.prompt}]
    cap = output_cap(ask.max_tokens + thinking, info, prompt + FRAME)
    return CompletionRequest(name, info, messages, system=ask.system or None, max_tokens=cap)


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
    said = "" if reason else done.text
    if not reason and not said.strip():
        said = ""
        cut = done.stop == "length"
        reason = "the answer was cut off before it began" if cut else "the answer is empty"
    if done.refusal and done.stop == "refusal":
        reason = f"{reason}: {' '.join(done.refusal.split())[:200]}"
    return Reply(
        said,
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
    message = error.message if isinstance(error, ModelError) else explain_error(error)
    long = isinstance(error, TooLong)
    return Reply(
        error=message,
        stop="overflow" if long else "unknown",
        retry=isinstance(error, ModelError) and error.retry,
        limit=error.limit if isinstance(error, TooLong) else None,
        model=model,
        seconds=seconds,
        attempts=attempts,
    )
