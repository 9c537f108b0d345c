"""Assemble candidates into a text within the budget; pure, except for requests to a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias

from foldline.context.compression import compress
from foldline.context.gathering import Gathered, gather
from foldline.context.packets import ContextPacket
from foldline.context.selection import (
    LeftOut,
    PacketChoice,
    PacketSelection,
    ScoredPacket,
    score_packets,
    select,
)
from foldline.context.settings import FLEXIBLE, ContextConfig, SectionName, section_of
from foldline.context.shorten import Shortening, fingerprint
from foldline.context.structure import (
    ContextFrame,
    ContextItem,
    ContextSection,
    arrange,
    format_packet,
    render,
)
from foldline.core.asks import ModelLimits, Steps
from foldline.errors import CannotFit
from foldline.frozen import field, frozen
from foldline.retrieval.embedding import Embedder
from foldline.values.tokens import TokenCounter

SEPARATOR: Final = 3
"""Size of the separator between two items, in tokens."""

HEADING: Final = 8
"""Size of a heading and the blank line before it, in tokens."""

Gathering: TypeAlias = Callable[..., Awaitable[Gathered]]
Selecting: TypeAlias = Callable[[Sequence[ScoredPacket], int, ContextConfig, str], PacketSelection]
Arranging: TypeAlias = Callable[
    [Sequence[ContextItem], ContextConfig, Sequence[SectionName]], tuple[ContextSection, ...]
]
Compressing: TypeAlias = Callable[[PacketChoice, Shortening], Steps[ContextItem]]


@frozen
class Stages:
    """The four stages of a build; each can be replaced, for experiments and failure tests."""

    gather: Gathering = gather
    select: Selecting = select
    arrange: Arranging = arrange
    compress: Compressing = compress


@frozen
class AssemblyTask:
    """
    The input of a build.

    ``fixed`` are instructions, question and output, ``offered`` all other packets. ``now`` is in
    seconds since 1970. ``former`` holds previously sent shorter forms, by fingerprint.
    """

    query: str
    fixed: tuple[ContextPacket, ...]
    offered: tuple[ContextPacket, ...]
    config: ContextConfig
    frame: ContextFrame
    counter: TokenCounter
    now: float
    embedder: Embedder | None = None
    reader: ModelLimits | None = None
    former: Mapping[str, str] = field(default_factory=dict)
    stages: Stages = Stages()


@frozen
class Assembled:
    """The text and its parts; ``short`` are the shorter forms in it, by fingerprint."""

    text: str
    tokens: int
    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    short: Mapping[str, str]


def assemble(task: AssemblyTask) -> Steps[Assembled]:
    """
    Select, structure and compress.

    Args:
        task: The packets and the stages.

    Returns:
        The assembled context, never larger than the budget.

    Raises:
        CannotFit: The mandatory packets exceed the budget; the error lists them.
    """
    costs = [_cost(packet, task) for packet in task.offered]
    judged = score_packets(
        task.query, task.offered, costs, task.config, now=task.now, embedder=task.embedder
    )
    must = [_keep(packet, _cost(packet, task)) for packet in task.fixed]
    must += [_keep(one.packet, one.tokens, one) for one in judged if one.packet.mandatory]
    optional = [one for one in judged if not one.packet.mandatory]
    room = _room(task, must, {one.place for one in optional})
    selection = task.stages.select(optional, room, task.config, task.query)
    how = Shortening(task.query, task.counter, task.frame.words, task.reader, task.former)
    items = list[ContextItem]()
    for choice in selection.chosen:
        items.append((yield from task.stages.compress(choice, how)))
    return _fit(task, must, items, selection.left_out)


def _room(task: AssemblyTask, must: Sequence[ContextItem], more: set[SectionName]) -> int:
    """Return the room left for optional packets, in tokens."""
    config = task.config
    sections = _arrange(task, must)
    base = task.counter.text(render(sections, task.frame))
    if base > config.max_tokens:
        sizes = sorted(((item.tokens, item.packet) for item in must), key=lambda pair: -pair[0])
        listed = ", ".join(f"{section_of(p)} '{p.label}' {tokens:,}" for tokens, p in sizes[:8])
        raise CannotFit(
            f"Mandatory content takes {base:,} tokens, {config.max_tokens:,} are allowed: "
            f"{listed}",
            needed=base,
            budget=config.max_tokens,
        )
    headings = HEADING * len(more.intersection(FLEXIBLE) - {s.place for s in sections})
    free = min(int(config.max_tokens * (1 - config.reserve_ratio)), config.max_tokens - base)
    return max(0, free - headings)


def _fit(
    task: AssemblyTask,
    must: Sequence[ContextItem],
    items: Sequence[ContextItem],
    left_out: Sequence[LeftOut],
) -> Assembled:
    """Render, and drop the least valuable packet while the result is too large."""
    kept = [item for item in items if item.text.strip()]
    removed = [_drop(item) for item in items if not item.text.strip()]
    while True:
        sections = _arrange(task, [*must, *kept])
        text = render(sections, task.frame)
        tokens = task.counter.text(text)
        if tokens <= task.config.max_tokens or not kept:
            break
        worst = min(range(len(kept)), key=lambda at: (kept[at].score, -at))
        removed.append(_drop(kept.pop(worst)))
    short = {fingerprint(i.packet): i.text for i in kept if i.method != "keep"}
    return Assembled(text, tokens, sections, (*left_out, *removed), short)


def _arrange(task: AssemblyTask, items: Sequence[ContextItem]) -> tuple[ContextSection, ...]:
    return task.stages.arrange(items, task.config, [section_of(item.packet) for item in items])


def _cost(packet: ContextPacket, task: AssemblyTask) -> int:
    text = format_packet(packet, packet.content, section_of(packet), task.frame)
    return task.counter.text(text) + SEPARATOR


def _keep(packet: ContextPacket, tokens: int, judged: ScoredPacket | None = None) -> ContextItem:
    relevance, score = (judged.relevance, judged.score) if judged else (1.0, 1.0)
    return ContextItem(packet, packet.content, tokens, tokens, relevance=relevance, score=score)


def _drop(item: ContextItem) -> LeftOut:
    return LeftOut(item.packet, "room", item.whole, item.relevance, item.score)
