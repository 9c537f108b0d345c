"""How a context is built: the numbers, checked when they are given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from foldline.context.places import PLACES, Form, Order, Place, Tongue
from foldline.core.validation import named, positive, whole
from foldline.errors import BudgetError

FLEXIBLE: Final = ("state", "evidence", "context")
"""The sections whose size can be limited; the others hold what is mandatory."""


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """
    How a context is built.

    Args:
        max_tokens: The most that the whole text takes, headings included.
        reserve_ratio: Fraction of that which is kept free for what is mandatory (instructions,
            task, output); everything else shares the rest.
        min_relevance: Packets below it stay out; 0 to 1.
        enable_compression: Whether packets may be shortened; otherwise they are in whole or out.
        recency_weight: Weight of the age; with ``relevance_weight`` it makes 1.
        relevance_weight: Weight of the relevance.
        diversity: Weight of a packet's own score against its likeness to what is chosen already
            (maximal marginal relevance, Carbonell and Goldstein 1998); 1 ignores likeness.
        decay: Loss of recency for each day of age; recency is exp(-decay x days), at least 0.1.
        recent_messages: So many of the newest messages count as relevant because they are new.
        recent_relevance: How relevant these are at least; 0 to 1.
        largest_share: The most that a single packet takes of the room, a fraction; a longer one
            is shortened to it.
        section_budgets: The most that "state", "evidence" or "context" take of the room, each a
            fraction.
        order: "standard", or "cache": what changes least comes first.
        form: "brackets" for ``[Task]``, "xml" for ``<task>``.
        language: "en", "zh", or "auto": English headings, and what the builder itself says in the
            language of the query.
        source_seconds: The time that each source has.

    Raises:
        BudgetError: A number makes no sense.
    """

    max_tokens: int = 3000
    reserve_ratio: float = 0.2
    min_relevance: float = 0.1
    enable_compression: bool = True
    recency_weight: float = 0.3
    relevance_weight: float = 0.7
    diversity: float = 0.7
    decay: float = 0.1
    recent_messages: int = 5
    recent_relevance: float = 0.6
    largest_share: float = 0.5
    section_budgets: Mapping[Place, float] = field(default_factory=dict, hash=False)
    order: Order = "standard"
    form: Form = "brackets"
    language: Tongue = "auto"
    source_seconds: float = 10.0

    def __post_init__(self) -> None:
        whole("max_tokens", self.max_tokens, 1)
        whole("recent_messages", self.recent_messages)
        for name in (
            "reserve_ratio",
            "min_relevance",
            "recency_weight",
            "relevance_weight",
            "diversity",
            "recent_relevance",
            "largest_share",
        ):
            positive(name, getattr(self, name), 1.0)
        positive("decay", self.decay)
        positive("source_seconds", self.source_seconds)
        named("order", self.order, get_args(Order))
        named("form", self.form, get_args(Form))
        named("language", self.language, get_args(Tongue))
        if not math.isclose(self.recency_weight + self.relevance_weight, 1.0, abs_tol=1e-6):
            raise BudgetError(
                f"recency_weight and relevance_weight make {self.recency_weight:g} + "
                f"{self.relevance_weight:g}, not 1.",
                hint="Give two weights that add up to 1.",
            )
        self._check_sections()

    def _check_sections(self) -> None:
        if not isinstance(self.section_budgets, Mapping):
            raise BudgetError("section_budgets is a mapping from a section to a fraction.")
        for name, share in self.section_budgets.items():
            named("section", name, PLACES)
            if name not in FLEXIBLE:
                raise BudgetError(
                    f"The section {name!r} holds what is mandatory and has no budget.",
                    hint=f"Limit one of {', '.join(FLEXIBLE)}.",
                )
            positive(f"section_budgets[{name!r}]", share, 1.0)
        object.__setattr__(self, "section_budgets", dict(self.section_budgets))
