"""Which model summarizes: the agent's own, its light sibling, or another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from foldline.core.summary_settings import SummarySettings
from foldline.errors import InputError
from foldline.models.catalogue import Catalogue

SAME, LIGHT = "same", "light"

READ: Final = 0.6
"""What a summarizer has to read at most, as a fraction of the agent's window."""

REQUESTS: Final = SummarySettings().chunks
"""Requests among which that may be divided."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that was chosen, and why it is not the one that was asked for, "" when it is."""

    name: str
    reason: str = ""


def light(model: str, catalogue: Catalogue | None = None) -> str:
    """
    Name the light sibling of a model: cheaper and faster, of the same provider.

    Args:
        model: Any name of a model.
        catalogue: What is known about models; default what `Catalogue.load` returns.

    Returns:
        The sibling; the model itself when it has none or is not known.
    """
    known = catalogue or Catalogue.load()
    return known.find(_bare(model)).light or model


def choose_summarizer(which: str, of: str, catalogue: Catalogue | None = None) -> ModelChoice:
    """
    Choose who summarizes the history of a model.

    Args:
        which: "same", "light", or the name of a model.
        of: The model whose history it is.
        catalogue: What is known about models; default what `Catalogue.load` returns.

    Returns:
        The choice. Where the light sibling could not read the agent's history even in several
        requests, it is the same model; a model that was named is taken whatever it holds, and the
        reason says if that is too little.

    Raises:
        InputError: ``which`` depends on the agent's model, and that is not named.
    """
    if which in (SAME, LIGHT) and not of:
        raise InputError(
            f"the summarizer {which!r} depends on the agent's model, which is not known",
            field="summarizer",
            hint='Give model="…", or name the summarizer itself, as in "openai:gpt-5-mini".',
        )
    if which == SAME:
        return ModelChoice(of)
    known = catalogue or Catalogue.load()
    own = known.find(_bare(of))
    name = light(of, known) if which == LIGHT else which
    other = known.find(_bare(name))
    if not own.resolved or other.readable * REQUESTS >= READ * own.window:
        return ModelChoice(name)
    words = (
        f"{other.name} reads {other.readable:,} tokens at once, too few for a history of up to "
        f"{own.window:,} tokens"
    )
    if which == LIGHT:
        return ModelChoice(of, f"{words}; {of} summarizes itself")
    return ModelChoice(name, f"{words}; it will see a part of it" if other.resolved else "")


def _bare(model: str) -> str:
    """Take the protocol, as in ``openai:…``, off a name."""
    head, colon, rest = model.partition(":")
    return rest if colon and rest and "/" not in head and "." not in head else model
