"""Quality: what a context is worth for its question, with evidence and advice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from foldline.context import measures
from foldline.context.advice import advice
from foldline.context.coverage import completeness
from foldline.context.gather import SourceReport
from foldline.context.measures import Measure
from foldline.context.places import Place
from foldline.context.select import LeftOut
from foldline.context.structure import Section

FIXED: Final = ("role", "task", "output")
"""The sections that do not answer anything, and are not judged."""

WEIGHTS: Final = {"relevance": 0.35, "completeness": 0.35, "density": 0.15, "redundancy": 0.15}


@dataclass(frozen=True, slots=True)
class Use:
    """What a section takes: its tokens, and its fraction of the whole budget."""

    place: Place
    tokens: int
    share: float
    packets: int


@dataclass(frozen=True, slots=True)
class Report:
    """
    The quality of one context; every figure goes from 0 to 1.

    ``relevance``, ``completeness`` and ``density`` are best at 1, ``redundancy`` at 0; ``score``
    weighs them 35, 35, 15 and 15 hundredths. ``tokens`` of ``max_tokens`` are used, by section in
    ``budget``. ``advice`` says what to change.
    """

    score: float
    relevance: Measure
    completeness: Measure
    density: Measure
    redundancy: Measure
    tokens: int
    max_tokens: int
    budget: tuple[Use, ...]
    advice: tuple[str, ...]

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the report as JSON values, with at most so many findings of each measure."""
        return {
            "score": round(self.score, 4),
            **{name: _measure(getattr(self, name), most) for name in WEIGHTS},
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "budget": [
                {
                    "section": u.place,
                    "tokens": u.tokens,
                    "share": round(u.share, 4),
                    "packets": u.packets,
                }
                for u in self.budget
            ],
            "advice": list(self.advice),
        }


def _measure(measure: Measure, most: int) -> dict[str, Any]:
    return {
        "value": round(measure.value, 4),
        "findings": [
            {"name": f.name, "value": round(f.value, 4), "tokens": f.tokens, "other": f.other}
            for f in measure.findings[:most]
        ],
    }


def evaluate(
    query: str,
    sections: Sequence[Section],
    left_out: Sequence[LeftOut],
    *,
    tokens: int,
    max_tokens: int,
    sources: Iterable[SourceReport] = (),
    tongue: str = "en",
) -> Report:
    """
    Judge a context: deterministic, without a model.

    Args:
        query: What it is for.
        sections: What is in.
        left_out: What is not.
        tokens: What the whole text takes.
        max_tokens: What it may take.
        sources: How the sources did.
        tongue: The language of the advice, "en" or "zh".
    """
    items = [item for section in sections if section.place not in FIXED for item in section.items]
    found = {
        "relevance": measures.relevance(items),
        "completeness": completeness(query, items, [one.packet for one in left_out]),
        "density": measures.density(items),
        "redundancy": measures.redundancy(items),
    }
    worth = {**{k: m.value for k, m in found.items()}, "redundancy": 0.0}
    if items:
        worth["redundancy"] = 1 - found["redundancy"].value
    budget = tuple(
        Use(section.place, section.tokens, section.tokens / max_tokens, len(section.items))
        for section in sections
    )
    told = advice(
        found, items, left_out, [*sources], tokens=tokens, max_tokens=max_tokens, tongue=tongue
    )
    score = sum(WEIGHTS[name] * value for name, value in worth.items())
    return Report(score, **found, tokens=tokens, max_tokens=max_tokens, budget=budget, advice=told)
