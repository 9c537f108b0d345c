"""Whether the model of an agent writes its summaries itself, and what to say where it cannot."""

from __future__ import annotations

from typing import Any, Final

from foldline.core.config import Config
from foldline.errors import InputError
from foldline.values.messages import Usage

SAME: Final = "same"


def is_same(summarizer: Any, config: Config | None) -> bool:
    """Return True if the agent's own model object is to summarize."""
    if summarizer is None and config is not None:
        summarizer = config.summarizer
    return isinstance(summarizer, str) and summarizer == SAME


def no_model(where: str, instead: str) -> InputError:
    """
    Return the error for an integration that holds no model object.

    Args:
        where: What holds none, as the beginning of a sentence.
        instead: What to do, as a sentence.
    """
    return InputError(
        f'{where} holds no model object, so summarizer="{SAME}" names nobody',
        field="summarizer",
        hint=instead,
    )


def usage_of(told: Any) -> Usage | None:
    """Read input and output tokens off an object that counts them."""
    counts = [getattr(told, name, None) for name in ("input_tokens", "output_tokens")]
    read, written = (count if isinstance(count, int) else 0 for count in counts)
    return Usage(read, written) if read or written else None
