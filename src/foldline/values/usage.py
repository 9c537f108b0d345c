"""Reading the token usage that a provider reports, under any field names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.values.messages import Usage


def read_usage(value: Any) -> Usage | None:
    """
    Read a ``usage`` object.

    OpenAI and compatible APIs include cached tokens in the input count, Anthropic does not.
    DeepSeek and Moonshot report cached tokens in their own fields.

    Args:
        value: The JSON value; any other value gives None.

    Returns:
        The usage, None if there is no valid one.
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
