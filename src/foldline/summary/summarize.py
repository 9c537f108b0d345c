"""Summarize: fold the old groups into a snapshot, and keep the newest ones verbatim."""

from __future__ import annotations

from typing import ClassVar

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext, Plan
from foldline.core.summary_settings import ModelSummary
from foldline.frozen import field, frozen
from foldline.relevance.language import LANGUAGES, Language, language
from foldline.snapshot.compose import compose
from foldline.snapshot.format import snapshot_id
from foldline.snapshot.phrases import phrases_for
from foldline.strategies.tail import TAIL, Keep, TailSelection
from foldline.strategies.truncate import shorten_staying
from foldline.values.edits import Edit, Fold, Rewrite
from foldline.values.frames import user_words
from foldline.values.messages import Message, Text
from foldline.values.tokens import MESSAGE_TOKENS
from foldline.values.view import View

NAME = "summarize"

SMALLEST = 160
"""Minimum room of a snapshot, in tokens."""

MUST_SHARE = 0.6
"""Fraction of the target up to which messages that must stay are never shortened."""

USED = 0.95
"""Minimum fraction of the target at which it counts as used."""

EXTENSIONS = 4
"""How often recent steps are added at most where a snapshot leaves room."""


@frozen
class Summarize:
    """
    Fold everything older than the tail into one snapshot of statements; no model is needed.

    With a summarizer, a model writes an account of the folded messages, and statements quote what
    it omits; if its answer is unusable, there are only statements.

    Args:
        keep: Selects the groups that stay verbatim, such as the newest.
        most: Maximum size of the snapshot, as a fraction of the effective window.
        share: Fraction of the target that remaining messages may take before they are cut.
    """

    keep: TailSelection = field(default_factory=lambda: Keep("target", TAIL))
    most: float = 1.0
    share: float = MUST_SHARE
    name: ClassVar[str] = NAME

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Fold the groups before the tail, including an earlier snapshot."""
        positions = sorted(i for group in self.keep.older(view, context) for i in group.members)
        folded = sum(view.counts[index] for index in positions)
        staying = sorted(set(range(len(view.messages))).difference(positions))
        cuts: tuple[Rewrite, ...] = ()
        if view.tokens - folded > max(self.share * context.target, context.target - folded):
            cuts = shorten_staying(view, context, staying, self.share, folded)
        beside = view.after(cuts)
        room = context.target - sum(beside.counts[index] for index in staying) - MESSAGE_TOKENS
        room = max(SMALLEST, min(room, round(self.most * context.scale)))
        if folded <= room:
            return Plan(cuts, "" if cuts else "a snapshot would not be smaller")
        language = conversation_language(view, context.summary.language)
        phrases = phrases_for(language)
        summary = ModelSummary()
        if context.account or (context.reader is not None and positions):
            # Imported here: most compactions need no account.
            from foldline.summary.account import write_account

            summary = yield from write_account(view, context, positions, room, cuts, language)
        text, whole = compose(beside, context, positions, room, summary.text, phrases), room
        for _ in range(EXTENSIONS):
            spare = room - beside.counter.text(text)
            if not self._may_extend(spare, context):
                break
            more = self._find_unfolded(view, positions, spare)
            if not more:
                break
            # What it quoted of these steps gives way, so that there may be room for others.
            positions = [position for position in positions if position not in more]
            room -= sum(view.counts[index] for index in more)
            text = compose(
                beside, context, positions, room, summary.text, phrases, state_room=whole
            )
        edits: tuple[Edit, ...] = (*cuts, _fold(view, positions, text))
        reason = _reason(beside, positions, summary, text)
        return Plan(edits, reason, fallback=bool(summary.problem))

    def _may_extend(self, spare: int, context: CompactionContext) -> bool:
        """Return True if the snapshot leaves room for recent steps."""
        return isinstance(self.keep, Keep) and spare > (1 - USED) * context.target

    def _find_unfolded(self, view: View, positions: list[int], spare: int) -> frozenset[int]:
        """Return the newest messages before the tail that fit verbatim, too."""
        folded = frozenset(positions)
        kept = set[int]()
        for group in reversed([g for g in view.foldable() if folded.issuperset(g.members)]):
            needed = sum(view.counts[index] for index in group.members)
            if needed > spare or len(kept) + len(group.members) >= len(positions):
                break
            kept.update(group.members)
            spare -= needed
        return frozenset(kept)


def _reason(view: View, positions: list[int], summary: ModelSummary, snapshot: str) -> str:
    """Describe the account: its problem, its unproven claims, and the names it lacks."""
    words = [summary.problem] if summary.problem else []
    if summary.marked:
        words.append(f"claims of success that no result shows: {summary.marked}")
    if summary.text:
        from foldline.summary.account import choose_names, measure_coverage

        words.append(str(measure_coverage(choose_names(view, positions), summary.text, snapshot)))
    return "; ".join(words)


def _fold(view: View, positions: list[int], text: str) -> Fold:
    ids = tuple(view.messages[index].id for index in positions)
    number = snapshot_id(ids)
    return Fold(ids, Message("user", (Text(text),), id=number, origin="snapshot"))


AUTO = "auto"
"""The setting for the language of the user."""


def conversation_language(view: View, setting: str = AUTO) -> Language | None:
    """
    Return the language in which to write about a conversation.

    Args:
        view: The view; only the user's own words count.
        setting: "auto", or the code or name of a language.

    Returns:
        The language; None if the user's script does not determine it.
    """
    if setting != AUTO:
        return LANGUAGES.get(setting.casefold(), Language("", setting))
    return language(map(user_words, map(view.original, range(len(view.messages)))))
