"""Check all promises at once: of one compaction, and of a policy over generated histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.api import Compaction, compact, count
from foldline.core.strategy import Policy
from foldline.engine.policies import policy as named_policy
from foldline.testing import promises
from foldline.values.identity import canonical_json
from foldline.values.tokens import TextCounter, TokenCounter


def check_compaction(
    result: Compaction[Any], messages: Any, budget: int, *, counter: TextCounter | None = None
) -> None:
    """
    Check a compaction against every promise that its result alone can prove.

    Args:
        result: The result of ``foldline.compact``.
        messages: Its input.
        budget: Its budget, in tokens.
        counter: Its counter, if not the default.

    Raises:
        AssertionError: A promise is broken; the message names it and where.
    """
    assert result.receipt.budget <= budget, "SHRINK: the receipt names a larger budget."
    _check_result(result, messages)
    promises.check_prefix(result, messages)
    promises.check_honest(result, messages, counter=counter)


def _check_result(result: Compaction[Any], given: Any) -> None:
    """Check the promises of every compaction, with or without a wire format."""
    promises.check_valid(result, given)
    promises.check_pair(result)
    promises.check_shrink(result, given)
    promises.check_task(result)
    promises.check_unread(result)
    promises.check_lossless(result)


def check_transcript(result: Compaction[Any], counter: TokenCounter) -> None:
    """
    Check the compaction of a transcript without a wire format, such as an agent's session file.

    Args:
        result: The result of ``foldline.api.compact_transcript``.
        counter: Its counter.

    Raises:
        AssertionError: A promise is broken.
    """
    _check_result(result, result.messages)
    promises.check_prefix(result, None)
    promises.check_honest(result, None)
    left, reported = counter.messages(result.shown.messages), result.receipt.tokens_after
    assert left == reported, f"HONEST: {left} tokens are left, the receipt says {reported}."


def check_run(
    messages: Any,
    *,
    format: str = "auto",  # noqa: A002  # the name used throughout this library
    policy: str | Policy = "default",
    budget: int | None = None,
    window: int | None = None,
    counter: TextCounter | None = None,
) -> Compaction[Any]:
    """
    Compact messages and check all eleven promises; see `foldline.compact` for the arguments.

    Returns:
        The compaction.

    Raises:
        AssertionError: A promise is broken.
    """

    def run(wire: Any, summarizer: Any = None) -> Compaction[Any]:
        return compact(
            wire,
            format=format,
            policy=policy,
            summarizer=summarizer,
            budget=budget,
            window=window,
            counter=counter,
        )

    before = canonical_json(messages)
    result = run(messages)
    assert canonical_json(messages) == before, "ATOMIC: the input was changed."
    check_compaction(result, messages, result.receipt.budget, counter=counter)
    promises.check_idemp(result, run)
    promises.check_term(lambda useless: run(messages, useless))
    return result


def check_policy(
    policy: str | Policy,
    *,
    examples: int = 100,
    formats: Sequence[str] = (),
    counter: TextCounter | None = None,
) -> None:
    """
    Check a policy on generated histories, healthy and damaged, at budgets of every size.

    Args:
        policy: A policy or its name.
        examples: Number of histories to try.
        formats: Wire formats to try; default: all.
        counter: The counter; default: the best one installed.

    Raises:
        AssertionError: A promise is broken; hypothesis reports the smallest history that breaks
            it.
        MissingExtra: Hypothesis is not installed.
    """
    from foldline.testing.histories import for_all

    chosen = named_policy(policy)

    def holds(name: str, wire: Any, budget: int | float) -> None:
        limit = budget_of(wire, name, budget, counter)
        check_run(wire, format=name, policy=chosen, budget=limit, counter=counter)

    for_all(holds, examples=examples, formats=formats)


def budget_of(
    wire: Any, dialect: str, budget: int | float, counter: TextCounter | None = None
) -> int:
    """Return a budget in tokens: an integer is one, a float is a share of the current size."""
    if isinstance(budget, int):
        return budget
    return max(1, round(budget * count(wire, format=dialect, counter=counter)))
