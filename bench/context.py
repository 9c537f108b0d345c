"""
Measure contexts: the effect of length, of loading on demand, and of each stage.

Everything is measured on generated data, and without a model: a fact counts as recalled if it
is in the text, or if a word search finds it first. What only a model could show (how
attention weakens with length) is not claimed here; ``--model NAME`` gives a model the same
questions.

    python bench/context.py [rot|load|shorten|stages|prefix|compare] [--json] [--model NAME]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, get_args

from context_data import COUNTER, NOW, Fact, cases, codebase, facts, filler, haystack, shaped_text
from foldline.context.assembly import Stages
from foldline.context.builder import ContextBuilder
from foldline.context.comparison import acompare, measure, recall
from foldline.context.compression import Kind, choose_method
from foldline.context.gathering import Gathered, SourceReport, gather
from foldline.context.packets import ContextPacket
from foldline.context.selection import PacketChoice, PacketSelection
from foldline.context.settings import WORDS, ContextConfig
from foldline.context.shorten import Shortening, shorten_by
from foldline.context.sources import ContextSource
from foldline.context.structure import ContextItem
from foldline.relevance.terms import terms
from foldline.retrieval.documents import Document
from foldline.retrieval.index import Index
from foldline.tokens.estimate import EstimatedCounter

Table = tuple[str, list[str], list[list[Any]]]
"""A title, headings, rows."""


# --- context rot: recall against length ----------------------------------------------------------


def rot(ask: Callable[[str, str], str] | None = None) -> Table:
    """Search for 20 facts in texts of growing length; a third of it resembles an answer."""
    needed = facts(20)
    rows = []
    for size in (1_000, 4_000, 16_000, 64_000):
        lines = [*haystack(needed, size)]
        text = "\n".join(lines)
        packets = tuple(
            ContextPacket("\n".join(lines[at : at + 8])) for at in range(0, len(lines), 8)
        )
        builder = _builder(ContextConfig(max_tokens=1_000))
        built = [builder.build(fact.question, custom_packets=packets) for fact in needed]
        kept = fmean(recall(context, [f.answer]) for context, f in zip(built, needed, strict=True))
        alike = [_alike(lines, fact) for fact in needed]
        left = [_alike(c.split("\n"), fact) for c, fact in zip(built, needed, strict=True)]
        row = [
            f"{COUNTER.text(text):,}",
            f"{fmean(alike):.1f}",
            f"{fmean(1 / (1 + count) for count in alike):.2f}",
            f"{fmean(c.tokens for c in built):,.0f}",
            f"{fmean(left):.1f}",
            f"{kept:.2f}",
        ]
        if ask is not None:
            for texts in ([text] * len(needed), built):
                pairs = zip(texts, needed, strict=True)
                row.append(f"{fmean(f.answer in ask(one, f.question) for one, f in pairs):.2f}")
        rows.append(row)
    asked = ["model, all of it", "model, built context"] if ask is not None else []
    return (
        "Context rot: 20 questions against texts of growing length",
        ["tokens of the text", "look-alikes a question", "one taken blindly is right",
         "tokens of the built context", "look-alikes in it", "the answer is in it", *asked],
        rows,
    )  # fmt: skip


def _alike(lines: Sequence[str], fact: Fact) -> int:
    """Count the lines with two thirds of the question's words, and another answer."""
    asked = set(terms(fact.question))
    return sum(
        fact.answer not in line and len(asked.intersection(terms(line))) >= len(asked) * 2 / 3
        for line in lines
        if not line.startswith("What")
    )


# --- everything at once, or on demand ------------------------------------------------------------

INPUT_USD = 3.0
"""US dollars per million input tokens of a mid-range model."""


def load() -> Table:
    """Answer ten questions about 50 files: all files, names only, or what the question needs."""
    files, needed = codebase()
    whole = tuple(ContextPacket(text, metadata={"type": "file", "path": path})
                  for path, text in files.items())  # fmt: skip
    listing = "\n".join(f"{path} ({len(text):,} bytes)" for path, text in files.items())
    everything = "\n\n".join(f"# {path}\n{text}" for path, text in files.items())
    chosen = _builder(ContextConfig(max_tokens=3_000))
    rows = []
    for name, text_for, calls in (
        ("all files", lambda _: everything, 0),
        ("names only", lambda _: listing, 0),
        ("the builder chooses, 3,000 tokens", lambda f: _built(chosen, f, whole), 0),
        ("names, then the file that a search finds", lambda f: _on_demand(files, listing, f), 2),
    ):
        texts = [(text_for(fact), fact) for fact in needed]
        tokens = fmean(COUNTER.text(text) for text, _ in texts)
        kept = fmean(fact.answer in text for text, fact in texts)
        usd = tokens * INPUT_USD / 1_000_000
        rows.append([name, f"{tokens:,.0f}", f"{usd:.4f}", calls, f"{kept:.2f}"])
    return (
        "50 files, ten questions: everything at once, or what is needed",
        ["what is sent", "tokens a question", "US dollars a question", "more calls of a model",
         "the answer is in it"],
        rows,
    )  # fmt: skip


def _built(builder: ContextBuilder, fact: Fact, packets: Sequence[ContextPacket]) -> str:
    return builder.build(fact.question, custom_packets=packets).text


def _on_demand(files: dict[str, str], listing: str, fact: Fact) -> str:
    """Act like an agent: list the names, open the one that fits, and read the relevant part."""
    index = Index(Document(path, path.replace("/", " ")) for path in files)
    found = index.search(fact.question, 1)[0].id
    lines = files[found].split("\n")
    return f"{listing}\n\n# {found}\n" + "\n".join(lines[:20])


# --- ways to shorten -----------------------------------------------------------------------------


def shorten(ask: Callable[[str, str], str] | None = None) -> Table:
    """Shorten texts of five kinds to a quarter, and count how many of five facts are left."""
    rows = []
    for kind in get_args(Kind):
        for where in ("at the end", "anywhere"):
            for asked in ("yes", "no"):
                found = [*_shortened(kind, where, asked == "yes", ask)]
                means = (f"{fmean(column):.2f}" for column in zip(*found, strict=True))
                rows.append([kind, where, asked, *means])
    return (
        "A quarter of a text: which part of five facts is still there",
        ["text", "the facts stand", "the query names them", "truncate", "window", "excerpt",
         "the chooser's", *(["summary of the model"] if ask else [])],
        rows,
    )  # fmt: skip


def _shortened(
    kind: Kind, where: str, asked: bool, ask: Callable[[str, str], str] | None
) -> Iterator[list[float]]:
    for seed in range(10):
        text, needed = shaped_text(kind, where, seed)
        whole = COUNTER.text(text)
        room = whole // 4
        query = " ".join(fact.question for fact in needed) if asked else "Please continue."
        how = Shortening(query, COUNTER, WORDS["en"])
        chosen = choose_method(kind, whole, room, matches_query=asked).method
        short = [
            shorten_by(method, text, room, how)
            for method in ("truncate", "window", "excerpt", chosen)
        ]
        assert all(COUNTER.text(result) <= room for result in short)
        if ask is not None:
            short.append(ask(text, f"Shorten this to {room} tokens for the question: {query}"))
        yield [recall(result, [fact.answer for fact in needed]) for result in short]


# --- failure of a stage --------------------------------------------------------------------------


def stages() -> Table:
    """Break one stage after another, and measure the loss."""
    config = ContextConfig(max_tokens=700, largest_share=0.5)
    broken = {
        "none": Stages(),
        "gather: a source is lost": Stages(gather=_lost),
        "select: at random": Stages(select=_random),
        "structure: unknown types are not shown": Stages(arrange=_forgetful),
        "compress: only the head is kept": Stages(compress=_beheaded),
    }
    rows = []
    for name, chosen in broken.items():
        # The packets come from a source, so that gathering matters.
        figures = []
        for case in cases():
            builder = _builder(config, chosen, sources=[_from(case.packets)])
            figures.append(asyncio.run(measure(builder, replace(case, packets=()))))
        means = {
            key: fmean(found[key] for found in figures if found)
            for key in ("recall", "completeness", "relevance", "density", "score")
        }
        rows.append([name, *(f"{value:.2f}" for value in means.values())])
    return (
        "One stage fails: what is lost (20 questions, 700 tokens)",
        ["broken", "facts in the context", "completeness", "relevance", "density", "score"],
        rows,
    )


def _from(packets: Sequence[ContextPacket]) -> ContextSource:
    return ContextSource("documents", lambda _: packets)


async def _lost(query: str, sources: Any, *, seconds: float) -> Gathered:
    found = await gather(query, sources, seconds=seconds)
    kept = tuple(p for p in found.packets if p.type != "knowledge")
    return Gathered(kept, (SourceReport("knowledge", 0, 0.0, "ConnectionError: refused"),))


def _random(offered: Any, room: int, config: Any, query: str) -> PacketSelection:  # noqa: ARG001  # as select
    dice = random.Random(query)  # noqa: S311  # as above
    chosen, left = [], room
    for one in dice.sample(list(offered), len(offered)):
        if one.tokens <= left:
            left -= one.tokens
            chosen.append(PacketChoice(one, one.tokens))
    return PacketSelection(tuple(chosen))


def _forgetful(items: Any, config: Any, places: Any) -> Any:
    from foldline.context.structure import arrange

    known = ("system_instruction", "task", "output", "document")
    pairs = [pair for pair in zip(items, places, strict=True) if pair[0].packet.type in known]
    return arrange([item for item, _ in pairs], config, [place for _, place in pairs])


def _beheaded(choice: PacketChoice, how: Any) -> Iterator[Any]:
    yield from ()
    packet, whole = choice.scored.packet, choice.scored.tokens
    share = 1.0 if choice.room >= whole else 0.5 * choice.room / whole
    text = packet.content[: int(len(packet.content) * share)]
    tokens = how.counter.text(text)
    return ContextItem(packet, text, tokens, whole, "head", relevance=choice.scored.relevance,
                score=choice.scored.score)  # fmt: skip


# --- prompt cache --------------------------------------------------------------------------------


def prefix() -> Table:
    """Build twelve contexts of one conversation; measure the prefix shared with the last one."""
    rows = []
    rules = " ".join(filler(40, 3))
    for order in ("standard", "cache"):
        config = ContextConfig(max_tokens=6_000, order=order, recent_messages=100)
        builder = _builder(config)
        history: list[dict[str, str]] = []
        tokens = shared = 0
        for turn, fact in enumerate(facts(12, 9)):
            context = builder.build(fact.question, history, rules)
            if turn:
                tokens += context.tokens
                shared += context.shared_tokens
            history += [
                {"role": "user", "content": fact.question},
                {"role": "assistant", "content": " ".join([fact.sentence, *filler(4, turn)])},
            ]
        rows.append([order, f"{tokens:,}", f"{shared:,}", f"{shared / tokens:.2f}"])
    return (
        "Twelve turns of one conversation: what a prompt cache can keep",
        ["order", "tokens sent", "the same beginning as before", "fraction"],
        rows,
    )


# --- two configurations --------------------------------------------------------------------------


def compare() -> Table:
    """Compare the default with two others over twenty questions."""
    base = ContextConfig(max_tokens=700)
    rows = []
    for name, config in (
        ("min_relevance 0.6", replace(base, min_relevance=0.6)),
        ("without compression", replace(base, enable_compression=False)),
    ):
        result = asyncio.run(acompare(cases(), _builder(base), _builder(config)))
        for figure in ("recall", "completeness", "relevance"):
            row = result.row(figure)
            counts = f"{row.better} / {row.worse}"
            figures = [f"{row.one:.2f}", f"{row.other:.2f}", counts, f"{row.chance:.3f}"]
            rows.append([name, figure, *figures, row.verdict])
    return (
        "Two ways to build, over the same twenty questions",
        [
            "the other one",
            "figure",
            "default",
            "other",
            "better / worse",
            "chance",
            "the other is",
        ],
        rows,
    )


# --- printing ------------------------------------------------------------------------------------


def _builder(
    config: ContextConfig, chosen: Stages | None = None, sources: Sequence[Any] = ()
) -> ContextBuilder:
    return ContextBuilder(
        config=config,
        sources=sources,
        counter=EstimatedCounter(),
        clock=lambda: NOW,
        stages=chosen,
    )


TABLES: dict[str, Callable[[], Table]] = {
    "rot": rot,
    "load": load,
    "shorten": shorten,
    "stages": stages,
    "prefix": prefix,
    "compare": compare,
}


ASKING: dict[str, Callable[[Callable[[str, str], str]], Table]] = {"rot": rot, "shorten": shorten}
"""Tables to which a model can add columns."""


def markdown(table: Table) -> str:
    _, headings, rows = table
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[1])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], help="default: all of them")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--model", help="also measure with this model (rot, shorten); costs money")
    chosen = parser.parse_args()
    for name in chosen.tables or TABLES:
        asked = name in ASKING and chosen.model
        table = ASKING[name](_asking(chosen.model)) if asked else TABLES[name]()
        if chosen.json:
            json.dump({"table": name, "title": table[0], "head": table[1], "rows": table[2]},
                      sys.stdout)  # fmt: skip
            print()
        else:
            print(f"\n## {table[0]}\n\n{markdown(table)}")


def _asking(name: str) -> Callable[[str, str], str]:
    from foldline.core.asks import Ask
    from foldline.models import model

    client = model(name)

    def ask(text: str, question: str) -> str:
        return client.answer(Ask(f"{text}\n\n{question}", 2_000)).text

    return ask


if __name__ == "__main__":
    main()
