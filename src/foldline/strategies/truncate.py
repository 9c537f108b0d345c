"""
Truncate: make single giant parts smaller, in place, with the whole text under a handle.

Used three ways: `bound` when a tool output is recorded; the `Truncate` rung, which levels the
largest parts of the messages that must stay until these fit; and, at worst, on the task itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from foldline.core.asks import Steps
from foldline.core.edits import Edit, Rewrite, rewritten
from foldline.core.handles import part_handle
from foldline.core.messages import Message, Part, Text, ToolCall, ToolResult
from foldline.core.protect import Reason
from foldline.core.strategy import Need, Plan
from foldline.core.tokens import TokenCounter
from foldline.core.view import View
from foldline.strategies.excerpt import Style, excerpt
from foldline.strategies.stubs import is_stub, short_arguments

SOFT, HARD = 8_000, 20_000
"""Record-time bounds of a tool output: cut to ``SOFT`` tokens when it has more than ``HARD``."""

SMALLEST = 120
"""Parts below this many tokens are not worth cutting."""

SHARE = 0.12
"""Fraction of the target that messages which must stay may take before they are cut."""


def bound(
    message: Message,
    counter: TokenCounter,
    *,
    handle: str,
    soft: int = SOFT,
    hard: int = HARD,
    style: Style = "head_tail",
) -> tuple[Rewrite, ...]:
    """
    Bound the tool outputs of a message that is being recorded.

    Args:
        message: The message.
        counter: What counts.
        handle: The message's handle.
        soft: Tokens that a cut output takes.
        hard: Tokens up to which an output is left alone.
        style: Which part of the output to keep.

    Returns:
        One edit for each output that is too long.
    """
    edits = []
    for index, part in enumerate(message.parts):
        if isinstance(part, ToolResult) and counter.text(part.text) > hard:
            name = part_handle(handle, message, index)
            text = excerpt(part.text, soft, counter, handle=name, style=style)
            edits.append(Rewrite(message.id, index, text, "truncate", name, keep_media=True))
    return tuple(edits)


@dataclass(frozen=True, slots=True)
class Site:
    """A part that may be cut, with its size in tokens; ``last`` marks the task and its like."""

    index: int
    part: int
    tokens: int
    last: bool


@dataclass(frozen=True, slots=True)
class Truncate:
    """
    Level the largest parts of the messages that must stay.

    Args:
        share: Fraction of the target that these messages may take while others need the rest.
        style: Which part of a text to keep.
        everything: Whether to cut parts of all messages, not only of those that must stay.
    """

    share: float = SHARE
    style: Style = "salient"
    everything: bool = False
    name: str = field(default="truncate", init=False)

    def propose(self, view: View, need: Need) -> Steps[Plan]:
        """Cut tool outputs and arguments first, and the task itself only if that is not enough."""
        yield from ()
        staying = range(len(view.messages)) if self.everything else sorted(view.protected)
        total = sum(view.counts[index] for index in staying)
        room = max(round(need.target * self.share), need.target - (view.tokens - total))
        if total <= room:
            return Plan(reason="what must stay is small enough")
        sites = list(_sites(view, staying))
        edits: list[Edit] = []
        for group in _order(sites, room):
            excess = total - room
            if excess <= 0 or not group:
                continue
            cap = level([site.tokens for site in group], excess)
            for site in group:
                if site.tokens > cap:
                    edit = self._cut(view, need, site, cap)
                    total -= _saved(view, edit)
                    edits.append(edit)
        return Plan(tuple(edits))

    def _cut(self, view: View, need: Need, site: Site, cap: int) -> Rewrite:
        message = view.messages[site.index]
        part = message.parts[site.part]
        handle = part_handle(need.handles.get(message.id, message.id), message, site.part)
        if isinstance(part, ToolCall):
            text = short_arguments(part, cap / site.tokens, handle)
        else:
            whole = part.text if isinstance(part, (Text, ToolResult)) else ""
            text = excerpt(
                whole, cap, view.counter, handle=handle, style=self.style, values=view.values
            )
        return Rewrite(message.id, site.part, text, "truncate", handle, keep_media=True)


def _order(sites: list[Site], room: int) -> list[list[Site]]:
    """Cut the task and its like last, unless it would leave nothing for anything else."""
    first = [site for site in sites if not site.last]
    last = [site for site in sites if site.last]
    if sum(site.tokens for site in last) > room / 2:
        return [sites]
    return [first, last]


def level(sizes: Iterable[int], excess: int) -> int:
    """
    Find the cap that frees a number of tokens when all larger parts are cut to it.

    Returns:
        The cap in tokens, at least `SMALLEST`.
    """
    ordered = sorted(sizes, reverse=True)
    for count, size in enumerate(ordered, 1):
        following = ordered[count] if count < len(ordered) else 0
        # Cutting the `count` largest to `following` frees this much at most.
        freed = sum(ordered[:count]) - following * count
        if freed >= excess:
            return max(SMALLEST, (sum(ordered[:count]) - excess) // count)
        if size <= SMALLEST:
            break
    return SMALLEST


def _sites(view: View, staying: Iterable[int]) -> Iterable[Site]:
    for index in staying:
        message = view.messages[index]
        reason: Reason | None = view.protected.get(index)
        for position, part in enumerate(message.parts):
            if _is_cuttable(part):
                tokens = view.counter.part(part)
                last = not isinstance(part, (ToolResult, ToolCall)) or reason == "pinned"
                if tokens > SMALLEST:
                    yield Site(index, position, tokens, last)


def _is_cuttable(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return not part.signed
    if isinstance(part, ToolResult):
        return not is_stub(part.text)
    return isinstance(part, Text)


def _saved(view: View, edit: Rewrite) -> int:
    index = view.positions[edit.message]
    message = view.messages[index]
    before = view.counter.part(message.parts[edit.part])
    return before - view.counter.part(rewritten(message, edit).parts[edit.part])
