"""Account: what a model or the user says of folded messages, before statements are quoted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext
from foldline.core.summary_settings import ModelSummary, SummarySettings
from foldline.relevance.language import Language
from foldline.snapshot.phrasing import phrases_for
from foldline.summary.acceptance import within
from foldline.summary.claims import mark_unproven_claims
from foldline.summary.forgery import neutralize
from foldline.summary.model_summary import summarize_with_model
from foldline.summary.summary_request import SummaryRequest, known_handles
from foldline.summary.templates import Template
from foldline.values.edits import Rewrite
from foldline.values.view import View


def write_account(
    view: View,
    need: CompactionContext,
    positions: list[int],
    room: int,
    settings: SummarySettings,
    template: Template | None,
    cuts: Sequence[Rewrite],
    language: Language | None,
) -> Steps[ModelSummary]:
    """
    Take the user's account, or let a model write one; mark what it lacks evidence for.

    Args:
        view: The view that holds the messages.
        need: Who answers, or the text of the user's own.
        positions: Which messages are folded, in order.
        room: What the snapshot may take, in tokens.
        settings: How a model is asked.
        template: What it is asked to write, None for what the settings name.
        cuts: What is shortened of the messages that stay.
        language: The language of the account, None for that of the template.
    """
    if need.account:
        return _own_account(view, need, round(settings.share * room))
    if need.reader is None:
        return ModelSummary()
    request = SummaryRequest(
        view, need, need.reader, positions, room, settings, template, cuts, language
    )
    summary = yield from summarize_with_model(request)
    if not summary.text:
        return summary
    said = [view.original(index) for index in range(len(view.messages))]
    text, marked = mark_unproven_claims(summary.text, said, phrases_for(language))
    return replace(summary, text=text, marked=marked)


def _own_account(view: View, need: CompactionContext, most: int) -> ModelSummary:
    """Write the user's own account as one of a model: harmless, and within its share."""
    text = neutralize(need.account, known_handles(view, need))
    short = within(text, most, view.counter.text, math.inf)
    return ModelSummary(short, "" if short == text else "the text of the user is cut")
