"""Quality: what a context is worth for its question, with evidence and advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from foldline.context import measures
from foldline.context.gathering import SourceReport
from foldline.context.measures import MeasureFinding, QualityMeasure, completeness
from foldline.context.selection import LeftOut
from foldline.context.settings import Place
from foldline.context.structure import ContextItem, ContextSection

SENTENCES: Final[Mapping[str, Mapping[str, str]]] = {
    "en": {
        "empty": "Nothing but instructions and the question is in: add a source, or lower "
        "min_relevance.",
        "source": "The source {name} gave nothing: {error}.",
        "irrelevant": "'{name}' takes {tokens:,} tokens with a relevance of {value:.2f}: leave it "
        "out, or raise min_relevance above that.",
        "unknown": "No source speaks of {names}: add one that does, or ask differently.",
        "left": "'{name}' is spoken of only in '{other}', which was left out ({reason}): {cure}.",
        "cut": "'{name}' was cut away from '{other}' ({tokens:,} tokens whole): raise "
        "largest_share or max_tokens.",
        "thin": "'{name}' says little that is new ({value:.0%} of {tokens:,} tokens): shorten it "
        "before it is offered.",
        "repeats": "'{name}' repeats '{other}' to {value:.0%}: drop one, and save {tokens:,} "
        "tokens.",
        "room": "raise max_tokens by about {tokens:,}",
        "relevance": "lower min_relevance to {value:.2f}",
        "section": "raise the budget of its section",
        "same": "it was taken for a repetition; lower its likeness, or mark it mandatory",
        "roomy": "Only {value:.0%} of the budget is used, and {count} relevant packets did not "
        "fit whole: raise largest_share or lower reserve_ratio.",
    },
    "zh": {
        "empty": "上下文里只有指令和问题:请增加来源,或降低 min_relevance。",
        "source": "来源 {name} 没有给出内容:{error}。",
        "irrelevant": "“{name}”占用 {tokens:,} 个 token,相关性只有 {value:.2f}:"
        "请去掉它,或把 min_relevance 调到更高。",
        "unknown": "没有任何来源谈到 {names}:请增加相关来源,或换一种问法。",
        "left": "只有“{other}”谈到“{name}”,而它没有入选({reason}):{cure}。",
        "cut": "“{name}”在压缩“{other}”(原文 {tokens:,} 个 token)时被删去:"
        "请提高 largest_share 或 max_tokens。",
        "thin": "“{name}”的新信息很少({tokens:,} 个 token 中的 {value:.0%}):请先精简再提供。",
        "repeats": "“{name}”有 {value:.0%} 与“{other}”重复:去掉其一可省 {tokens:,} 个 token。",
        "room": "请把 max_tokens 提高约 {tokens:,}",
        "relevance": "请把 min_relevance 降到 {value:.2f}",
        "section": "请提高该分区的预算",
        "same": "它被当作重复内容;如确有需要,请标为 mandatory",
        "roomy": "预算只用了 {value:.0%},却有 {count} 个相关信息包放不下:"
        "请提高 largest_share 或降低 reserve_ratio。",
    },
}

MOST: Final = 3
"""Sentences of each sort."""

ROOMY: Final = 0.6


def advice(
    found: Mapping[str, QualityMeasure],
    items: Sequence[ContextItem],
    left_out: Sequence[LeftOut],
    sources: Sequence[SourceReport],
    *,
    tokens: int,
    max_tokens: int,
    tongue: str,
) -> tuple[str, ...]:
    """
    Say what to change, the gravest first.

    Args:
        found: The measures by name.
        items: What is in.
        left_out: What is not.
        sources: How the sources did.
        tokens: What the whole text takes.
        max_tokens: What it may take.
        tongue: "en" or "zh".
    """
    says = SENTENCES[tongue]
    out = [says["source"].format(name=s.name, error=s.error) for s in sources if s.error]
    if not items:
        out.append(says["empty"])
    out += _missing(found["completeness"].findings, left_out, says)
    for name, sort in (
        ("relevance", "irrelevant"),
        ("redundancy", "repeats"),
        ("density", "thin"),
    ):
        out += [says[sort].format(**asdict(f)) for f in found[name].findings[:MOST]]
    waiting = sum(one.reason in ("room", "section") for one in left_out)
    if waiting and tokens < ROOMY * max_tokens:
        out.append(says["roomy"].format(value=tokens / max_tokens, count=waiting))
    return tuple(out)


def _missing(
    findings: Sequence[MeasureFinding], left_out: Sequence[LeftOut], says: Mapping[str, str]
) -> Iterator[str]:
    unknown = [finding.name for finding in findings if not finding.other]
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown[: 2 * MOST])
        yield says["unknown"].format(names=names)
    by_label = {one.packet.label: one for one in reversed(left_out)}
    for finding in [finding for finding in findings if finding.other][:MOST]:
        left = by_label.get(finding.other)
        if left is None:
            yield says["cut"].format(name=finding.name, other=finding.other, tokens=finding.tokens)
            continue
        cure = says["same" if left.reason == "repeats" else left.reason]
        yield says["left"].format(
            name=finding.name,
            other=finding.other,
            reason=left.reason,
            cure=cure.format(tokens=left.tokens, value=left.relevance),
        )


FIXED: Final = ("role", "task", "output")
"""The sections that do not answer anything, and are not judged."""

WEIGHTS: Final = {"relevance": 0.35, "completeness": 0.35, "density": 0.15, "redundancy": 0.15}


@dataclass(frozen=True, slots=True)
class SectionUse:
    """What a section takes: its tokens, and its fraction of the whole budget."""

    place: Place
    tokens: int
    share: float
    packets: int


@dataclass(frozen=True, slots=True)
class QualityReport:
    """
    The quality of one context; every figure goes from 0 to 1.

    ``relevance``, ``completeness`` and ``density`` are best at 1, ``redundancy`` at 0; ``score``
    weighs them 35, 35, 15 and 15 hundredths. ``tokens`` of ``max_tokens`` are used, by section in
    ``budget``. ``advice`` says what to change.
    """

    score: float
    relevance: QualityMeasure
    completeness: QualityMeasure
    density: QualityMeasure
    redundancy: QualityMeasure
    tokens: int
    max_tokens: int
    budget: tuple[SectionUse, ...]
    advice: tuple[str, ...]

    def to_dict(self, most: int = 10) -> dict[str, Any]:
        """Return the report as JSON values, with at most so many findings of each measure."""
        return {
            "score": round(self.score, 4),
            **{name: _measure_json(getattr(self, name), most) for name in WEIGHTS},
            "tokens": self.tokens,
            "max_tokens": self.max_tokens,
            "budget": [
                {"section": u.place, "tokens": u.tokens, "share": round(u.share, 4)}
                | {"packets": u.packets}
                for u in self.budget
            ],
            "advice": list(self.advice),
        }


def _measure_json(measure: QualityMeasure, most: int) -> dict[str, Any]:
    findings = [asdict(f) | {"value": round(f.value, 4)} for f in measure.findings[:most]]
    return {"value": round(measure.value, 4), "findings": findings}


def evaluate(
    query: str,
    sections: Sequence[ContextSection],
    left_out: Sequence[LeftOut],
    *,
    tokens: int,
    max_tokens: int,
    sources: Iterable[SourceReport] = (),
    tongue: str = "en",
) -> QualityReport:
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
        SectionUse(section.place, section.tokens, section.tokens / max_tokens, len(section.items))
        for section in sections
    )
    sentences = advice(
        found, items, left_out, [*sources], tokens=tokens, max_tokens=max_tokens, tongue=tongue
    )
    score = sum(WEIGHTS[name] * value for name, value in worth.items())
    return QualityReport(
        score, **found, tokens=tokens, max_tokens=max_tokens, budget=budget, advice=sentences
    )
