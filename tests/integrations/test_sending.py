from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from foldline import ContextOverflow
from foldline.integrations.model_calls import asend_with_retry, is_overflow, send_with_retry

TOO_LONG = ValueError("This model's maximum context length is 8192 tokens. However, 9000 tokens.")
OTHER = ValueError("The server had an error.")


class Provider:
    """Raises the given errors, one per call, and then returns the messages it was sent."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.sent: list[Sequence[Any]] = []
        self.told: list[Exception] = []

    def send(self, messages: Sequence[Any]) -> Sequence[Any]:
        self.sent.append(messages)
        if self.errors:
            raise self.errors.pop(0)
        return messages

    def overflowed(self, error: Exception) -> Sequence[Any]:
        self.told.append(error)
        if len(self.told) > 1:
            raise ContextOverflow("Nothing is sent a third time.", breakdown={})
        return self.sent[-1][1:]


def blocking(provider: Provider) -> Sequence[Any]:
    return send_with_retry([1, 2, 3], provider.overflowed, provider.send)


def awaiting(provider: Provider) -> Sequence[Any]:
    async def send(messages: Sequence[Any]) -> Sequence[Any]:
        return provider.send(messages)

    async def overflowed(error: Exception) -> Sequence[Any]:
        return provider.overflowed(error)

    return asyncio.run(asend_with_retry([1, 2, 3], overflowed, send))


ways = pytest.mark.parametrize("way", [blocking, awaiting])
Way = Callable[[Provider], Sequence[Any]]


@ways
def test_an_accepted_view_is_sent_once(way: Way):
    provider = Provider()
    assert way(provider) == [1, 2, 3]
    assert provider.sent == [[1, 2, 3]]


@ways
def test_after_an_overflow_a_smaller_view_is_sent_once(way: Way):
    provider = Provider(TOO_LONG)
    assert way(provider) == [2, 3]
    assert provider.told == [TOO_LONG]


@ways
@pytest.mark.requirement("J7")
def test_nothing_is_sent_a_third_time(way: Way):
    provider = Provider(TOO_LONG, TOO_LONG)
    with pytest.raises(ContextOverflow) as raised:
        way(provider)
    assert len(provider.sent) == 2
    assert raised.value.__context__ is TOO_LONG


@ways
@pytest.mark.parametrize("before", [(), (TOO_LONG,)])
def test_any_other_error_propagates_unchanged(way: Way, before: tuple[Exception, ...]):
    provider = Provider(*before, OTHER)
    with pytest.raises(ValueError, match="had an error"):
        way(provider)
    assert len(provider.sent) == len(before) + 1


def test_an_overflow_is_recognised_by_its_exception():
    assert is_overflow(TOO_LONG)
    assert not is_overflow(OTHER)
    assert not is_overflow(ValueError("Rate limit reached: 30000 tokens per min."))
