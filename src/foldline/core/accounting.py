"""Accounting: from the outcome of a compaction to its receipt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from sys import intern

from foldline.core.budget import Budget
from foldline.core.compaction import Outcome
from foldline.core.edits import Drop, Edit, Fold, Rewrite
from foldline.core.handles import near, part_handle
from foldline.core.identity import HANDLE_LENGTH
from foldline.core.messages import Message, ToolResult
from foldline.core.prepared import Prepared
from foldline.core.receipt import Receipt
from foldline.core.redaction import redacted
from foldline.core.view import View


def account(
    before: View,
    outcome: Outcome,
    budget: Budget,
    policy: str,
    handles: Mapping[str, str],
    warnings: tuple[str, ...] = (),
    memory: Prepared | None = None,
) -> Receipt:
    """
    Make the receipt of a compaction.

    Args:
        before: The view that was to be made smaller.
        outcome: What became of it.
        budget: What the messages were allowed.
        policy: The name of the policy.
        handles: Handle by id.
        warnings: Sentences for the caller.
        memory: What had been prepared, where the edits begin with it: it was accounted for then.
    """
    after = outcome.view
    kept = 0
    for old, new in zip(before.messages, after.messages, strict=False):
        if old is not new:
            break
        kept += 1
    prepared = memory or Prepared((), (), before.dialect, 0, 0.0)
    fresh = outcome.edits[len(prepared.edits) :]
    return Receipt(
        status=outcome.status,
        reason=redacted(outcome.reason),
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        messages_before=len(before.messages),
        messages_after=len(after.messages),
        counter=before.counter.name,
        policy=policy,
        budget=budget.limit,
        overhead=budget.overhead,
        kept_prefix=kept,
        edits=outcome.edits,
        rungs=tuple(replace(rung, reason=redacted(rung.reason)) for rung in outcome.rungs),
        recall={**prepared.recall, **recallable(fresh, before.originals, handles)},
        warnings=tuple(redacted((*warnings, *budget.warnings))),
        spent=prepared.spent + outcome.spent,
        evicted=outcome.evicted,
    )


def recallable(
    edits: Iterable[Edit], originals: Mapping[str, Message], handles: Mapping[str, str]
) -> dict[str, str]:
    """
    Name everything that edits took out of sight.

    Returns:
        A few words by handle.
    """
    out: dict[str, str] = {}
    for edit in edits:
        match edit:
            case Rewrite(message=number) if number in originals:
                message = originals[number]
                handle = part_handle(handles.get(number, number), message, edit.part)
                out[edit.handle or handle] = _part_words(message, edit.part)
            case Drop(messages=gone):
                for number in gone:
                    if number in originals:
                        out[handles.get(number, number)] = _words(originals[number])
            case Fold(messages=gone, snapshot=snapshot):
                if edit.kind != "repair":
                    out[_alone(snapshot.id, handles)] = f"the {len(gone)} messages of a snapshot"
                for number in gone:
                    if number in originals:
                        out[handles.get(number, number)] = _words(originals[number])
    return out


def _alone(number: str, handles: Mapping[str, str]) -> str:
    """Return the shortest handle of an id that none of the others shares."""
    others = [other for other in near(number[:HANDLE_LENGTH], handles) if other != number]
    for length in range(HANDLE_LENGTH, len(number)):
        if not any(other.startswith(number[:length]) for other in others):
            return number[:length]
    return number


def _words(message: Message) -> str:
    if message.results:
        return _part_words(message, 0)
    calls = ", ".join(_tool(call.name) for call in message.calls)
    # The same few words for thousands of messages: each is kept once.
    return intern(f"{message.role} message" + (f" calling {calls}" if calls else ""))


@lru_cache(maxsize=1_000)
def _tool(name: str) -> str:
    """Return the name of a tool for a receipt, which is kept: names come from a model."""
    return str(redacted(name))


def _part_words(message: Message, index: int) -> str:
    part = message.parts[index] if index < len(message.parts) else None
    if isinstance(part, ToolResult):
        return intern(f"result of {_tool(part.name)}") if part.name else "tool result"
    kind = "part" if part is None else type(part).__name__.lower()
    return f"{kind} of a {message.role} message"
