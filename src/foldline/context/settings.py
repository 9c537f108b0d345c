"""Settings of a context: its sections and their texts, and the parameters of a build."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from pkgutil import get_data
from typing import Any, Final, Literal, TypeAlias, get_args

from foldline.context.packets import ContextPacket
from foldline.core.validation import check_name, positive, whole
from foldline.errors import BudgetError
from foldline.frozen import field, frozen

SectionName: TypeAlias = Literal["role", "task", "state", "evidence", "context", "output"]
"""Rules, question, state of the work, retrieved evidence, conversation, and expected answer."""

SECTION_NAMES: Final[tuple[SectionName, ...]] = get_args(SectionName)

Order: TypeAlias = Literal["standard", "cache"]
Form: TypeAlias = Literal["brackets", "xml"]
LanguageChoice: TypeAlias = Literal["auto", "en", "zh"]

ORDERS: Final[Mapping[Order, tuple[SectionName, ...]]] = {
    "standard": SECTION_NAMES,
    # Constant sections, then growing ones, then those that change with every question.
    "cache": ("role", "output", "context", "state", "evidence", "task"),
}


def read_texts(name: str) -> dict[str, Any]:
    """Return the tables of a text file next to this module."""
    return tomllib.loads((get_data("foldline.context", name) or b"").decode("utf-8"))


HEADINGS: Final = read_texts("headings.toml")

TAGS: Final[Mapping[SectionName, str]] = {place: place for place in SECTION_NAMES} | {
    "role": "role_and_policies"
}

TYPES: Final[Mapping[SectionName, str]] = {
    "role": "system_instruction system role policy",
    "task": "task",
    "state": "state task_state task_plan plan blocker action",
    "evidence": "rag_result knowledge document evidence file reference conclusion",
    "output": "output",
}
SECTION_OF_TYPE: Final = {kind: place for place, kinds in TYPES.items() for kind in kinds.split()}
"""Unlisted types go to Context, so that no chosen packet is lost."""


@frozen
class ContextWords:
    """The builder's own texts in a language."""

    output: str
    data: str
    memory: str
    gap: str
    cut: str


WORDS: Final = {name: ContextWords(**words) for name, words in read_texts("words.toml").items()}


def section_of(packet: ContextPacket) -> SectionName:
    """Return the section of a packet: as named in it, by its type, else Context."""
    named = packet.metadata.get("section")
    if named in SECTION_NAMES:
        return named  # type: ignore[no-any-return]  # one of the six
    kind = packet.metadata.get("note_type") if packet.type == "note" else packet.type
    return SECTION_OF_TYPE.get(str(kind), "context")


FLEXIBLE: Final = ("state", "evidence", "context")
"""Sections whose size can be limited; the others are mandatory."""


_FRACTIONS: Final = """
reserve_ratio min_relevance recency_weight relevance_weight diversity recent_relevance
largest_share
"""


@frozen
class ContextConfig:
    """
    The settings of a build.

    Args:
        max_tokens: Maximum size of the whole text, headings included.
        reserve_ratio: Fraction reserved for mandatory content (instructions,
            task, output); everything else shares the rest.
        min_relevance: Minimum relevance of a packet; 0 to 1.
        enable_compression: Whether packets may be shortened; otherwise they are whole or left out.
        recency_weight: Weight of the age; adds up to 1 with ``relevance_weight``.
        relevance_weight: Weight of the relevance.
        diversity: Weight of a packet's own score against its similarity to chosen packets
            (maximal marginal relevance, Carbonell and Goldstein 1998); 1 ignores similarity.
        decay: Loss of recency per day of age; recency is exp(-decay x days), at least 0.1.
        recent_messages: Number of newest messages that count as relevant for being new.
        recent_relevance: Their minimum relevance; 0 to 1.
        largest_share: Maximum fraction of the room for a single packet; a longer one
            is shortened to it.
        section_budgets: Maximum fraction of the room for "state", "evidence" or "context", each a
            fraction.
        order: "standard", or "cache": the most stable sections come first.
        form: "brackets" for ``[Task]``, "xml" for ``<task>``.
        language: "en", "zh", or "auto": English headings, and the builder's own texts in the
            language of the query.
        source_seconds: Timeout of each source.

    Raises:
        BudgetError: A number is out of range.
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
    section_budgets: Mapping[SectionName, float] = field(default_factory=dict, hash=False)
    order: Order = "standard"
    form: Form = "brackets"
    language: LanguageChoice = "auto"
    source_seconds: float = 10.0

    def __post_init__(self) -> None:
        whole("max_tokens", self.max_tokens, 1)
        whole("recent_messages", self.recent_messages)
        for name in _FRACTIONS.split():
            positive(name, getattr(self, name), 1.0)
        positive("decay", self.decay)
        positive("source_seconds", self.source_seconds)
        check_name("order", self.order, get_args(Order))
        check_name("form", self.form, get_args(Form))
        check_name("language", self.language, get_args(LanguageChoice))
        if not math.isclose(self.recency_weight + self.relevance_weight, 1.0, abs_tol=1e-6):
            raise BudgetError(
                f"recency_weight and relevance_weight add up to {self.recency_weight:g} + "
                f"{self.relevance_weight:g}, not 1.",
                hint="Give two weights that add up to 1.",
            )
        self._check_sections()

    def _check_sections(self) -> None:
        if not isinstance(self.section_budgets, Mapping):
            raise BudgetError("section_budgets must be a mapping from a section to a fraction.")
        for name, share in self.section_budgets.items():
            check_name("section", name, SECTION_NAMES)
            if name not in FLEXIBLE:
                raise BudgetError(
                    f"The section {name!r} is mandatory and has no budget.",
                    hint=f"Limit one of {', '.join(FLEXIBLE)}.",
                )
            positive(f"section_budgets[{name!r}]", share, 1.0)
        object.__setattr__(self, "section_budgets", dict(self.section_budgets))
