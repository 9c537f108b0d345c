"""
What OpenTelemetry is told, under which names: the one table.

Names with ``gen_ai`` are the semantic conventions for generative AI, those with ``foldline`` our
own. There is no name for content, so that none can be recorded.
"""

from __future__ import annotations

from typing import Any, Final

from foldline.engine.events import CompactionFinished, CompactionStarted

OPERATION: Final = "compact"

SPAN: Final = {
    "gen_ai.operation.name": "always compact",
    "gen_ai.provider.name": "whose wire rules count",
    "gen_ai.conversation.id": "the name of the session",
    "gen_ai.request.model": "the model that reads the view",
    "gen_ai.response.model": "the model that wrote the summary",
    "gen_ai.usage.input_tokens": "what that model read",
    "gen_ai.usage.output_tokens": "what that model wrote",
    "foldline.trigger": "why it was compacted",
    "foldline.core": "by which ladder",
    "foldline.status": "compacted, unchanged, failed or interrupted",
    "foldline.tokens.before": "tokens of the messages before",
    "foldline.tokens.after": "tokens of the messages after",
    "foldline.messages.before": "messages before",
    "foldline.messages.after": "messages after",
    "foldline.kept_prefix": "messages at the start that are unchanged",
    "foldline.requests": "requests made to a model",
    "foldline.usd": "their price in US dollars, as far as known",
    "error.type": "what interrupted it",
}
"""Attributes of the span of a compaction, with their meaning."""

METRICS: Final = {
    "foldline.compaction.duration": ("s", "how long a compaction took"),
    "foldline.compaction.freed": ("{token}", "tokens that a compaction freed"),
    "gen_ai.client.token.usage": ("{token}", "tokens that a summary read and wrote"),
    "foldline.context.warnings": ("{warning}", "thresholds that a window passed"),
    "foldline.outputs.bounded": ("{output}", "tool outputs that were cut when recorded"),
}
"""Metrics, with their unit and meaning; the last two are counters, the others histograms."""

_PROVIDERS: Final = {"gemini": "gcp.gemini"}
"""What the conventions call a provider, where we call it otherwise."""


def of_start(event: CompactionStarted) -> dict[str, Any]:
    """Return the attributes that are known when a compaction starts."""
    said = {
        "gen_ai.operation.name": OPERATION,
        "gen_ai.provider.name": provider(event.provider),
        "gen_ai.conversation.id": event.session,
        "gen_ai.request.model": event.model,
        "foldline.trigger": event.trigger,
        "foldline.core": event.policy,
        "foldline.tokens.before": event.tokens,
        "foldline.messages.before": event.messages,
    }
    return {name: value for name, value in said.items() if value != ""}


def of_end(event: CompactionFinished) -> dict[str, Any]:
    """Return the attributes that are known when it ended."""
    said: dict[str, Any] = {"foldline.status": event.status, "error.type": event.error}
    receipt = event.receipt
    if receipt is not None:
        spent = receipt.spent
        said |= {
            "foldline.tokens.before": receipt.tokens_before,
            "foldline.tokens.after": receipt.tokens_after,
            "foldline.messages.before": receipt.messages_before,
            "foldline.messages.after": receipt.messages_after,
            "foldline.kept_prefix": receipt.kept_prefix,
            "foldline.requests": spent.attempts,
            "foldline.usd": spent.usd,
            "gen_ai.response.model": spent.model,
            "gen_ai.usage.input_tokens": spent.input_tokens,
            "gen_ai.usage.output_tokens": spent.output_tokens,
        }
    return {name: value for name, value in said.items() if value != ""}


def provider(name: str) -> str:
    """Return what the conventions call a provider."""
    return _PROVIDERS.get(name, name)
