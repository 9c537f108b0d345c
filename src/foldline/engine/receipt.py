"""The receipt: what a compaction did, why, what it saved, and the handles for recall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, Final

from foldline.core.budget import Budget
from foldline.core.limits import Spent
from foldline.core.prepared import Prepared
from foldline.core.strategy import Evicted, Outcome, RungReport, Status
from foldline.frozen import field, frozen, replace, to_dict
from foldline.redaction import redact_json
from foldline.values.edits import Drop, Edit, Fold, Rewrite
from foldline.values.handles import near, part_handle
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message, ToolResult
from foldline.values.view import View

ESTIMATE: Final = "estimate:"
"""How the name of a counter begins that has no vocabulary."""


@frozen
class Receipt:
    """
    The record of one compaction.

    Token counts are of messages only, measured by ``counter``; ``overhead`` is the size of the
    system prompt and tool schemas. ``recall`` maps every handle to a short description of its
    content. ``kept_prefix`` is how many messages at the start are byte-identical, so that
    a provider's prompt cache still holds them. ``spent`` is the cost of the model calls,
    ``evicted`` the files that are no longer in view. ``needed`` is how many tokens must stay,
    where that exceeds the budget and the compaction failed; else 0.
    """

    status: Status
    reason: str
    tokens_before: int
    tokens_after: int
    messages_before: int
    messages_after: int
    counter: str
    policy: str
    budget: int
    overhead: int = 0
    kept_prefix: int = 0
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    rungs: tuple[RungReport, ...] = ()
    recall: dict[str, str] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()
    spent: Spent = field(default_factory=Spent)
    evicted: Evicted = field(default_factory=Evicted)
    needed: int = 0

    def __str__(self) -> str:
        before = f"{self.tokens_before:,}"
        if self.counter.startswith(ESTIMATE):
            before = f"about {before}"
        if self.status != "compacted":
            return f"{self.status}: {self.reason} ({before} tokens)"
        share = self.tokens_after / max(1, self.tokens_before)
        return (
            f"compacted: {before} → {self.tokens_after:,} tokens ({share:.0%}), "
            f"{self.messages_before:,} → {self.messages_after:,} messages, by {self.reason}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON values; edits are counted by kind, not listed."""
        return {
            "schema": "foldline.receipt/1",
            "status": self.status,
            "reason": self.reason,
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
            "messages_before": self.messages_before,
            "messages_after": self.messages_after,
            "kept_prefix": self.kept_prefix,
            "budget": self.budget,
            "overhead": self.overhead,
            "counter": self.counter,
            "policy": self.policy,
            "rungs": [to_dict(rung) for rung in self.rungs],
            "edits": dict(Counter(edit.kind for edit in self.edits)),
            "recall": dict(self.recall),
            "warnings": list(self.warnings),
            "spent": to_dict(self.spent),
            "evicted": {"files": list(self.evicted.files), "unknown": self.evicted.unknown},
            "needed": self.needed,
        }


def build_receipt(
    before: View,
    outcome: Outcome,
    budget: Budget,
    policy: str,
    handles: Mapping[str, str],
    warnings: tuple[str, ...] = (),
    memory: Prepared | None = None,
) -> Receipt:
    """
    Build the receipt of a compaction.

    Args:
        before: The view before the compaction.
        outcome: The result of the compaction.
        budget: The budget of the messages.
        policy: The name of the policy.
        handles: Handle by message id.
        warnings: Sentences for the caller.
        memory: The prepared summary with which the edits begin, if any; its cost and handles are
            taken from it.
    """
    after = outcome.view
    prepared = memory or Prepared((), (), before.dialect, 0, 0.0)
    fresh = outcome.edits[len(prepared.edits) :]
    return Receipt(
        status=outcome.status,
        reason=redact_json(outcome.reason),
        tokens_before=before.tokens,
        tokens_after=after.tokens,
        messages_before=len(before.messages),
        messages_after=len(after.messages),
        counter=before.counter.name,
        policy=policy,
        budget=budget.limit,
        overhead=budget.overhead,
        kept_prefix=before.kept_prefix(after),
        edits=outcome.edits,
        rungs=tuple(replace(rung, reason=redact_json(rung.reason)) for rung in outcome.rungs),
        recall={**prepared.recall, **recallable(fresh, before.originals, handles)},
        warnings=tuple(redact_json((*warnings, *budget.warnings))),
        spent=prepared.spent + outcome.spent,
        evicted=outcome.evicted,
        needed=outcome.needed,
    )


def recallable(
    edits: Iterable[Edit], originals: Mapping[str, Message], handles: Mapping[str, str]
) -> dict[str, str]:
    """
    Describe everything that edits removed from view.

    Returns:
        A short description by handle.
    """
    out: dict[str, str] = {}
    for edit in edits:
        match edit:
            case Rewrite(message=number) if number in originals:
                message = originals[number]
                handle = part_handle(handles.get(number, number), message, edit.part)
                out[edit.handle or handle] = _describe_part(message, edit.part)
            case Drop(messages=removed) | Fold(messages=removed):
                if isinstance(edit, Fold) and edit.kind != "repair":
                    handle = _find_unique_handle(edit.snapshot.id, handles)
                    out[handle] = f"the {len(removed)} messages of a snapshot"
                for number in removed:
                    if number in originals:
                        out[handles.get(number, number)] = _describe(originals[number])
    return out


def _find_unique_handle(number: str, handles: Mapping[str, str]) -> str:
    """Return the shortest prefix of an id that no other id shares."""
    others = [other for other in near(number[:HANDLE_LENGTH], handles) if other != number]
    for length in range(HANDLE_LENGTH, len(number)):
        if not any(other.startswith(number[:length]) for other in others):
            return number[:length]
    return number


def _describe(message: Message) -> str:
    if message.has_results:
        return _describe_part(message, 0)
    calls = ", ".join([_tool(call.name) for call in message.calls])
    # Thousands of messages share a few descriptions: each is stored once.
    return intern(f"{message.role} message" + (f" calling {calls}" if calls else ""))


@lru_cache(maxsize=1_000)
def _tool(name: str) -> str:
    """Return the name of a tool, redacted: a model wrote it, and the receipt is stored."""
    return str(redact_json(name))


def _describe_part(message: Message, index: int) -> str:
    part = message.parts[index] if index < len(message.parts) else None
    if isinstance(part, ToolResult):
        return intern(f"result of {_tool(part.name)}") if part.name else "tool result"
    kind = "part" if part is None else type(part).__name__.lower()
    return f"{kind} of a {message.role} message"
