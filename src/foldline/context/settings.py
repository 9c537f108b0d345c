"""Settings of a context: its sections and their words, and the numbers of a build."""

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
"""Rules, question, where the work stands, what was looked up, what was said, what is wanted."""

SECTION_NAMES: Final[tuple[SectionName, ...]] = get_args(SectionName)

Order: TypeAlias = Literal["standard", "cache"]
Form: TypeAlias = Literal["brackets", "xml"]
LanguageChoice: TypeAlias = Literal["auto", "en", "zh"]

ORDERS: Final[Mapping[Order, tuple[SectionName, ...]]] = {
    "standard": SECTION_NAMES,
    # What never changes, then what only grows, then what is new with every question.
    "cache": ("role", "output", "context", "state", "evidence", "task"),
}


def read_texts(name: str) -> dict[str, Any]:
    """Return the tables of a file with texts beside this module."""
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
"""Types that are not listed stand under Context: nothing that was chosen is left unshown."""


@frozen
class ContextWords:
    """What the builder itself says in a language."""

    output: str
    data: str
    memory: str
    gap: str
    cut: str


WORDS: Final = {name: ContextWords(**words) for name, words in read_texts("words.toml").items()}


def section_of(packet: ContextPacket) -> SectionName:
    """Return the section of a packet: the one it names, that of its type, else Context."""
    named = packet.metadata.get("section")
    if named in SECTION_NAMES:
        return named  # type: ignore[no-any-return]  # one of the six
    kind = packet.metadata.get("note_type") if packet.type == "note" else packet.type
    return SECTION_OF_TYPE.get(str(kind), "context")


FLEXIBLE: Final = ("state", "evidence", "context")
"""The sections whose size can be limited; the others hold what is mandatory."""


_FRACTIONS: Final = """
reserve_ratio min_relevance recency_weight relevance_weight diversity recent_relevance
largest_share
"""


@frozen
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
                f"recency_weight and relevance_weight make {self.recency_weight:g} + "
                f"{self.relevance_weight:g}, not 1.",
                hint="Give two weights that add up to 1.",
            )
        self._check_sections()

    def _check_sections(self) -> None:
        if not isinstance(self.section_budgets, Mapping):
            raise BudgetError("section_budgets is a mapping from a section to a fraction.")
        for name, share in self.section_budgets.items():
            check_name("section", name, SECTION_NAMES)
            if name not in FLEXIBLE:
                raise BudgetError(
                    f"The section {name!r} holds what is mandatory and has no budget.",
                    hint=f"Limit one of {', '.join(FLEXIBLE)}.",
                )
            positive(f"section_budgets[{name!r}]", share, 1.0)
        object.__setattr__(self, "section_budgets", dict(self.section_budgets))
