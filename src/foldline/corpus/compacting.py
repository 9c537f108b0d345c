"""Compaction of a session: what is left of its conversations, each with its receipt."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

from foldline.api import compact_transcript
from foldline.core.budget import Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.corpus.operation import Row, Totals, Work, added, counter_for
from foldline.engine.policies import configured
from foldline.errors import BudgetError
from foldline.formats.recording import Recording
from foldline.formats.registry import dialect
from foldline.repair.repair import repair
from foldline.values.edits import apply
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

SIZES = ("tokens_before", "tokens_after", "messages_before", "messages_after")


@dataclass(frozen=True)
class Compact:
    """
    Bring every conversation within a budget. No model is asked.

    Args:
        budget: The most that the messages may take, in tokens; below 1 a share of what they take.
        window: Instead of it the window of a model, in tokens.
        policy: Name of a policy, "" for that of ``config``.
        model: Count tokens as this model does.
        to: The wire format in which the messages are written.
        config: Everything else that can be set.

    Raises:
        BudgetError: Not one of budget and window is given, or there is no such policy.
    """

    budget: float | None = None
    window: int | None = None
    policy: str = ""
    model: str | None = None
    to: str = "openai-chat"
    config: Config = field(default_factory=Config)

    name: ClassVar[str] = "compact"
    order: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[dict[str, str]] = {
        "format": "text",
        "status": "text",
        "reason": "text",
        **dict.fromkeys(SIZES, "int"),
        "receipt": "text",
        "messages": "text",
    }

    def __post_init__(self) -> None:
        if (self.budget is None) == (self.window is None):
            raise BudgetError("Give a budget or a window, one of the two.")
        if (self.budget or self.window or 0) <= 0:
            raise BudgetError("A budget of nothing leaves no room for anything.")
        dialect(self.to)
        named_policy(self.policy, self.config)

    def start(self) -> Work:
        """Return what makes a row of every conversation."""
        ladder = named_policy(self.policy, self.config)
        return lambda recording: self._rows(recording, ladder)

    def totals(self, rows: Iterable[Row]) -> Totals:
        """Add up sizes, and count by status."""
        listed = list(rows)
        totals = added(listed, *SIZES)
        for status in ("compacted", "unchanged", "failed"):
            totals[status] = sum(row["status"] == status for row in listed)
        return totals

    def _rows(self, recording: Recording, ladder: Policy) -> Iterator[Row]:
        for number, conversation in enumerate(recording.conversations, 1):
            place = {"number": number, "conversation": conversation.name}
            row = self._row(conversation.transcript, ladder)
            yield {"format": recording.format, **place, **row}

    def _row(self, there: Transcript, ladder: Policy) -> Row:
        counter = counter_for(there, self.model)
        try:
            budget = self._budget(there, counter)
        except BudgetError as error:
            size, count = counter.messages(there.messages), len(there.messages)
            sizes = dict(zip(SIZES, (size, size, count, count), strict=True))
            return {"status": "failed", "reason": error.message, **sizes}
        result = compact_transcript(there, counter, budget, ladder, config=self.config)
        receipt = result.receipt
        return {
            "status": receipt.status,
            "reason": receipt.reason,
            **{name: getattr(receipt, name) for name in SIZES},
            "receipt": json.dumps(receipt.to_dict(), ensure_ascii=False),
            "messages": None if receipt.status == "failed" else self._written(result.shown),
        }

    def _budget(self, there: Transcript, counter: TokenCounter) -> Budget:
        if self.budget is None:
            overhead = counter.overhead(there.system, there.tools)
            return self.config.budget(self.window, overhead=overhead)
        whole = counter.messages(there.messages) if self.budget < 1 else 1
        return Budget.of_tokens(max(1, int(self.budget * whole)))

    def _written(self, shown: Transcript) -> str:
        valid = apply(shown.messages, repair(shown.messages, self.to))
        return json.dumps(dialect(self.to).encode(shown.with_messages(valid)), ensure_ascii=False)


def named_policy(name: str, config: Config) -> Policy:
    """
    Make a policy with the settings of a configuration.

    Raises:
        BudgetError: There is no policy of this name.
    """
    return configured(replace(config, policy=name.replace("-", "_")) if name else config)
