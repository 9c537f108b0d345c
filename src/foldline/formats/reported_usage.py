"""Token counts that a provider reported, in the shape of OpenAI and its imitators."""

from __future__ import annotations

from typing import Any

from foldline.values.messages import Usage


def reported_usage(value: Any) -> Usage | None:
    """
    Read a ``usage`` object.

    Args:
        value: Anything; ``prompt_tokens`` includes what was read from the cache.

    Returns:
        The usage, or None when there is none that makes sense.
    """
    if not isinstance(value, dict):
        return None
    prompt, output = _count(value, "prompt_tokens"), _count(value, "completion_tokens")
    details = value.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
    if not prompt and not output:
        return None
    cached = min(cached, prompt)
    return Usage(input=prompt - cached, output=output, cache_read=cached)


def _count(value: dict[str, Any], key: str) -> int:
    number = value.get(key)
    return number if isinstance(number, int) and number > 0 else 0
