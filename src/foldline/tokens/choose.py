"""Choosing a token counter for a model: its real vocabulary, a similar one, or the estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from foldline.errors import InputError
from foldline.values.tokens import TextCounter

_PREFIXES: Final = {
    "o200k": "gpt-4o gpt-4.1 gpt-4.5 gpt-5 gpt-oss chatgpt-4o codex o1 o3 o4",
    "cl100k": "gpt-4 gpt-3.5 gpt-35 text-embedding-3 phi-4",
    "claude": "claude",
    "deepseek": "deepseek",
    "qwen": "qwen qwq",
    "llama": "llama-3 llama3 meta-llama-3",
    "llama2": "llama-2 llama2 codellama",
    "kimi": "kimi",
    "glm": "glm-4",
    "gemma": "gemma-3 gemma3",
    "mistral": "mistral-large mistral-medium mistral-nemo mistral-small ministral magistral "
    "devstral pixtral",
    "mistral1": "mistral-7b mixtral",
}
FAMILY_OF_PREFIX: Final = {
    prefix: family for family, prefixes in _PREFIXES.items() for prefix in prefixes.split()
}
"""Vocabulary family by the prefix of a model's name; the longest prefix wins."""

DEFAULT_FAMILY: Final = "o200k"
"""The family for a model whose vocabulary is unknown."""

NEAREST: Final = {"gemini": "gemma"}
"""Models with an unpublished vocabulary, reportedly a known one (Gemma 3 report, 2025)."""

COUNTERS: Final = ("splintr", "tiktoken", "estimate")


def family_of(model: str | None) -> str | None:
    """
    Return the vocabulary family of a model.

    Args:
        model: A model's name; a provider prefix ("openai/", "eu.anthropic.") and case are
            ignored.

    Returns:
        A family, or None if the vocabulary of the model is unknown.
    """
    return _look_up(model, FAMILY_OF_PREFIX)


def _look_up(model: str | None, families: Mapping[str, str]) -> str | None:
    name = (model or "").lower().rsplit("/", 1)[-1].rsplit(":", 1)[0]
    names = [name, *(name[at + 1 :] for at, char in enumerate(name[:64]) if char == ".")]
    for candidate in names:
        prefixes = [prefix for prefix in families if candidate.startswith(prefix)]
        if prefixes:
            return families[max(prefixes, key=len)]
    return None


def choose_counter(model: str | None = None, prefer: str | None = None) -> TextCounter:
    """
    Choose the best counter on this machine for a model, without network access.

    Claude's vocabulary is not public, and o200k times a factor was measured to spread wider than
    the estimate's own weights, so Claude is always estimated; so is Gemini, with the weights of
    Gemma, which is closer than o200k. Unknown models use o200k, marked as not exact.

    Args:
        model: The model's name, or None if unknown.
        prefer: "splintr", "tiktoken" or "estimate", used if it is available for the model.

    Returns:
        A counter; ``name`` identifies it, ``exact`` is True if it has the model's vocabulary.

    Raises:
        InputError: ``prefer`` is not one of these.
    """
    if prefer not in (None, *COUNTERS):
        raise InputError(
            f"there is no counter {prefer!r}",
            field="prefer",
            hint=f"Use one of {', '.join(COUNTERS)}.",
        )
    nearest = _look_up(model, NEAREST)
    if nearest:
        return _estimate(nearest)
    known = family_of(model)
    family, exact = known or DEFAULT_FAMILY, known is not None
    for kind in sorted(COUNTERS, key=lambda kind: kind != prefer):
        if kind == "estimate":
            break
        counter = _splintr(family, exact) if kind == "splintr" else _tiktoken(family, exact)
        if counter is not None:
            return counter
    return _estimate(family)


# Each counter is imported on use, so that startup does not pay for the others.


def _splintr(family: str, exact: bool) -> TextCounter | None:
    from foldline.tokens.splintr import SplintrCounter

    return SplintrCounter(family, exact=exact) if SplintrCounter.available(family) else None


def _tiktoken(family: str, exact: bool) -> TextCounter | None:
    from foldline.tokens.tiktoken import TiktokenCounter

    return TiktokenCounter(family, exact=exact) if TiktokenCounter.available(family) else None


def _estimate(family: str) -> TextCounter:
    from foldline.tokens.estimate import EstimatedCounter

    return EstimatedCounter(family)
