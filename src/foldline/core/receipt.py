"""The receipt: what a compaction did, why, what it saved, and where everything is recalled."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from foldline.core.compaction import Evicted, RungReport, Status
from foldline.core.edits import Edit
from foldline.core.spending import Spent


@dataclass(frozen=True, slots=True)
class Receipt:
    """
    The account of one compaction.

    Token counts are of messages only, measured by ``counter``; ``overhead`` is what the system
    prompt and tool schemas take besides. ``recall`` maps every handle to a few words about what
    it holds. ``kept_prefix`` is how many messages at the start are exactly what they were, so that
    a provider's prompt cache still holds them. ``spent`` is what a model was asked for it,
    ``evicted`` which files are out of sight now.
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

    def __str__(self) -> str:
        if self.status != "compacted":
            return f"{self.status}: {self.reason} ({self.tokens_before:,} tokens)"
        share = self.tokens_after / max(1, self.tokens_before)
        return (
            f"compacted: {self.tokens_before:,} → {self.tokens_after:,} tokens ({share:.0%}), "
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
            "rungs": [
                {
                    "name": rung.name,
                    "outcome": rung.outcome,
                    "freed": rung.freed,
                    "reason": rung.reason,
                }
                for rung in self.rungs
            ],
            "edits": dict(Counter(edit.kind for edit in self.edits)),
            "recall": dict(self.recall),
            "warnings": list(self.warnings),
            "spent": asdict(self.spent),
            "evicted": {"files": list(self.evicted.files), "unknown": self.evicted.unknown},
        }
