"""Reading what a provider reports of the tokens that a request took, in whatever words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.values.messages import Usage


def read_usage(value: Any) -> Usage | None:
    """
    Read a ``usage`` object.

    OpenAI and its imitators count what the cache gave and took within the input, Anthropic beside
    it. DeepSeek and Moonshot report cached tokens in fields of their own.

    Args:
        value: The JSON value; anything else reports nothing.

    Returns:
        The usage, None where there is none that makes sense.
    """
    if not isinstance(value, Mapping):
        return None
    read = _count(value, "prompt_tokens", "input_tokens")
    output = _count(value, "completion_tokens", "output_tokens")
    cached = _count(value, "cache_read_input_tokens")
    written = _count(value, "cache_creation_input_tokens")
    if not (cached or written):
        details = value.get("prompt_tokens_details") or value.get("input_tokens_details")
        held = details if isinstance(details, Mapping) else {}
        cached = _count(held, "cached_tokens")
        cached = cached or _count(value, "prompt_cache_hit_tokens", "cached_tokens")
        cached = min(cached, read)
        written = min(_count(held, "cache_write_tokens"), read - cached)
        read -= cached + written
    usage = Usage(read, output, cached, written)
    return usage if usage.total else None


def _count(value: Mapping[str, Any], *names: str) -> int:
    """Return the first positive whole number under one of these names, else 0."""
    numbers = (value.get(name) for name in names)
    return next((n for n in numbers if type(n) is int and n > 0), 0)
