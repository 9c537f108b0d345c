"""Summarize: fold the old groups into a snapshot, and keep the newest ones verbatim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from foldline.core.asks import Steps
from foldline.core.edits import Fold, Rewrite
from foldline.core.messages import Message, Text, visible_texts
from foldline.core.strategy import Need, Plan
from foldline.core.summary import SummarySettings
from foldline.core.tokens import MESSAGE_TOKENS
from foldline.core.view import View
from foldline.strategies.claims import checked
from foldline.strategies.coverage import coverage, wanted
from foldline.strategies.digest import Room, digest
from foldline.strategies.narrative import Told, narrate
from foldline.strategies.snapshot import snapshot_id
from foldline.strategies.spare import still_short
from foldline.strategies.tail import TAIL, Keep, Selection
from foldline.strategies.telling import Telling
from foldline.strategies.templates import Template
from foldline.strategies.truncate import Site, level_calls, text_at, text_sites

SMALLEST = 160
"""The least that a snapshot is given, in tokens."""

SHARE = 0.3
"""
Fraction of the target that messages which have to stay may take before their largest parts are
cut, where what is to be folded needs the rest.
"""

CALL_SHARE = 0.1
"""Fraction of the target that the arguments of calls which have to stay may take."""


PLAINNESS = 1.11
"""
How many more characters a token of what is kept may hold than one of the whole. Chosen lines are
plainer than the logs that they come from; this keeps a budget true under another tokenizer too.
"""

WHOLE = {"system": 0.8, "pinned": 0.6, "task": 0.15}
"""Fractions of the target up to which these parts of messages that stay are never shortened."""


@dataclass(frozen=True, slots=True)
class Summarize:
    """
    Fold everything older than the tail into one snapshot of verbatim lines; no model is needed.

    Where somebody answers, a model tells what happened, and the lines quote what it leaves out;
    where its answer cannot be used, the lines alone do.

    Args:
        keep: What of the history stays verbatim, such as how much of the newest.
        most: The largest snapshot, as a fraction of the effective window.
        share: Fraction of the target that what stays may take before its largest parts are cut.
        settings: How a model is asked; None for what the need says.
        template: What a model is told to write, in place of what the settings name.
    """

    keep: Selection = field(default_factory=lambda: Keep("target", TAIL))
    most: float = 1.0
    share: float = SHARE
    settings: SummarySettings | None = None
    template: Template | None = None
    name: str = field(default="summarize", init=False)

    def propose(self, view: View, need: Need) -> Steps[Plan]:
        """Fold the groups before the tail; an earlier snapshot among them is taken up."""
        positions = sorted(i for group in self.keep.older(view, need) for i in group.members)
        return (yield from self._plan(view, need, positions))

    def _plan(self, view: View, need: Need, positions: list[int]) -> Steps[Plan]:
        folded = sum(view.counts[index] for index in positions)
        gone = frozenset(positions)
        staying = [index for index in range(len(view.messages)) if index not in gone]
        taken = view.tokens - folded
        long: list[Site] = []
        calls: tuple[Rewrite, ...] = ()
        if taken > max(self.share * need.target, need.target - folded):
            calls = level_calls(view, need, staying, round(CALL_SHARE * need.target))
            long = _shortened(list(text_sites(view, staying)), need)
        beside = view.after(calls)
        fixed = sum(beside.counts[index] for index in staying) - sum(site.text for site in long)
        room = need.target - fixed - MESSAGE_TOKENS
        room = max(SMALLEST, min(room, round(self.most * need.scale)))
        if folded <= room and not long:
            return Plan(calls, "" if calls else "a snapshot would not be smaller")
        density = _characters(view.messages) / max(1, view.tokens)
        kept = _characters(beside.messages[index] for index in staying)
        cut = sum(len(text_at(beside, site)) for site in long)
        longest = round(PLAINNESS * density * need.target) - (kept - cut)
        told = yield from self._told(beside, need, positions, room)
        within = Room(room, longest)
        made = digest(beside, need, positions, long, within, told.text)
        short = still_short(beside, made, long, within)
        fold = (_fold(view, positions, made.text),) if positions else ()
        edits = (*calls, *short, *fold)
        reason = _reason(beside, positions, told, made.text)
        return Plan(edits, reason, fallback=bool(told.problem))

    def _told(self, view: View, need: Need, positions: list[int], room: int) -> Steps[Told]:
        """Let a model tell what happened; mark what it claims without evidence."""
        if need.reader is None or not positions:
            return Told()
        settings = self.settings or need.summary
        telling = Telling(view, need, need.reader, positions, room, settings, self.template)
        told = yield from narrate(telling)
        if not told.text:
            return told
        said = [view.original(index) for index in range(len(view.messages))]
        text, marked = checked(told.text, said)
        return replace(told, text=text, marked=marked)


def _reason(view: View, positions: list[int], told: Told, snapshot: str) -> str:
    """Say what became of the account: where it ends, what is unproven in it, what it lacks."""
    words = [told.problem] if told.problem else []
    if told.marked:
        words.append(f"claims of success that no result shows: {told.marked}")
    if told.text:
        words.append(str(coverage(wanted(view, positions), told.text, snapshot)))
    return "; ".join(words)


def _shortened(sites: list[Site], need: Need) -> list[Site]:
    """Leave the task and pins whole as long as they take a bearable share of the target."""
    whole = set[str]()
    for reason, share in WHOLE.items():
        if sum(site.tokens for site in sites if site.rank == reason) <= share * need.target:
            whole.add(reason)
    return [site for site in sites if site.rank not in whole]


def _characters(messages: Iterable[Message]) -> int:
    return sum(len(text) for message in messages for text in visible_texts(message))


def _fold(view: View, positions: list[int], text: str) -> Fold:
    ids = tuple(view.messages[index].id for index in positions)
    number = snapshot_id(ids)
    return Fold(ids, Message("user", (Text(text),), id=number, origin="snapshot"))
