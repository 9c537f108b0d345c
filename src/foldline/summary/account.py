"""
Account: a summary of folded messages by a model or the user, before statements are quoted.

Its coverage measures which of the most important names it contains, or quotes beside it contain:
those most likely to be used again, by the statistics of the conversation, and the paths and
numbers of open failures and of the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import nlargest

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext
from foldline.core.summary_settings import ModelSummary
from foldline.frozen import frozen, replace
from foldline.relevance.language import Language
from foldline.relevance.names import items
from foldline.snapshot.facts import open_errors, plan
from foldline.snapshot.invocations import Invocations
from foldline.snapshot.phrases import phrases_for
from foldline.summary.acceptance import cut_to_length
from foldline.summary.claims import mark_unproven_claims
from foldline.summary.cleanup import neutralize
from foldline.summary.model_summary import summarize_with_model
from foldline.summary.summary_request import SummaryRequest, known_handles
from foldline.values.edits import Rewrite
from foldline.values.messages import visible_texts
from foldline.values.view import View


def write_account(
    view: View,
    context: CompactionContext,
    positions: list[int],
    room: int,
    cuts: Sequence[Rewrite],
    language: Language | None,
) -> Steps[ModelSummary]:
    """
    Return the user's account, or one by a model, with claims marked that have no evidence.

    Args:
        view: The view that holds the messages.
        context: The summarizer, or the text of the user.
        positions: Positions of the folded messages, in order.
        room: Maximum size of the snapshot, in tokens.
        cuts: Edits that shorten messages that stay.
        language: The language of the account, None for that of the template.
    """
    if context.account:
        return _own_account(view, context, round(context.summary.share * room))
    if context.reader is None:
        return ModelSummary()
    request = SummaryRequest(view, context, context.reader, positions, room, cuts, language)
    summary = yield from summarize_with_model(request)
    if not summary.text:
        return summary
    originals = [view.original(index) for index in range(len(view.messages))]
    text, marked = mark_unproven_claims(summary.text, originals, phrases_for(language))
    return replace(summary, text=text, marked=marked)


def _own_account(view: View, context: CompactionContext, most: int) -> ModelSummary:
    """Return the user's own account, neutralized and within the share of a model's account."""
    text = neutralize(context.account, known_handles(view, context))
    short = cut_to_length(text, most, view.counter.text, math.inf)
    return ModelSummary(short, "" if short == text else "the text of the user is cut")


MOST = 40
"""Number of likely names that are checked, in addition to those of facts."""


@frozen
class Coverage:
    """Important names, those that the account lacks, and those that the snapshot lacks, too."""

    expected: frozenset[str]
    missing: frozenset[str]
    lost: frozenset[str]

    def __str__(self) -> str:
        quoted = len(self.missing) - len(self.lost)
        return (
            f"the account lacks {len(self.missing)} of the {len(self.expected)} names that matter "
            f"most, {quoted} of these are quoted beside it"
        )


def choose_names(view: View, positions: Sequence[int]) -> frozenset[str]:
    """
    Return the most important names among those that would no longer be in view.

    Args:
        view: What the model sees.
        positions: Positions of the folded messages.
    """
    folded = [view.original(position) for position in positions]
    folded_positions = frozenset(positions)
    beside = {
        item
        for index, message in enumerate(view.messages)
        if index not in folded_positions
        for text in visible_texts(message)
        for item in items(text)
    }
    found = {item for message in folded for text in visible_texts(message) for item in items(text)}
    values = view.names
    likely = nlargest(MOST, sorted(found - beside), key=lambda item: values.get(item, 0.0))
    steps = plan(folded)
    findings = (*open_errors(Invocations(folded)), *((steps,) if steps else ()))
    facts = {item for finding in findings for line in finding.lines for item in items(line)}
    return frozenset(likely) | (facts - beside)


def measure_coverage(names: frozenset[str], account: str, snapshot: str) -> Coverage:
    """Compare the important names with an account and with the snapshot that contains it."""
    return Coverage(names, names - items(account).keys(), names - items(snapshot).keys())
