"""Settings of model summaries, and their result."""

from __future__ import annotations

from typing import Final

from foldline.core.validation import check_name, positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen

TEMPLATE_NAMES: Final = ("account", "state_snapshot", "nine_sections", "five_sections")
"""The names of the bundled templates; `foldline.summary.templates` has their texts."""

LONGEST_NAME: Final = 40
"""Maximum length of a language name, in characters: it becomes part of a prompt."""

LONGEST_TEMPLATE: Final = 20_000
"""Maximum length of a custom template, in characters."""


@frozen
class SummarySettings:
    """
    Settings for requesting a summary of folded messages from a model.

    ``template`` is the name of a template, or the text of a custom one, which has more than one
    word. ``language`` is "auto" for the user's, or a code or name. ``retries`` is the number of
    retries after an unusable answer, 0 for a single attempt. ``chunks`` is the maximum number of
    requests for a long history. ``share`` is the fraction of a snapshot available to the summary,
    ``max_tokens`` its maximum length in tokens, None for that of the share.

    Raises:
        BudgetError: A value is invalid; the message says which.
    """

    template: str = "account"
    language: str = "auto"
    retries: int = 1
    chunks: int = 4
    share: float = 0.85
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        _check_template(self.template)
        name = self.language
        if (
            not isinstance(name, str)
            or not 0 < len(name) <= LONGEST_NAME
            or not name.isprintable()
        ):
            raise BudgetError(
                f"The language of summaries is a short name, not {str(name)[:60]!r}.",
                hint='Give "auto", a code such as "zh", or a name such as "German".',
            )
        whole("summary.retries", self.retries)
        whole("summary.chunks", self.chunks, 1)
        if self.max_tokens is not None:
            whole("summary.max_tokens", self.max_tokens, 1)
        positive("summary.share", self.share, 1.0)


def is_own_template(value: str) -> bool:
    """Return True if a template is given by text, not by name."""
    return len(value.split(maxsplit=1)) > 1


def _check_template(value: object) -> None:
    if not isinstance(value, str) or not is_own_template(value):
        check_name("summary template", value, TEMPLATE_NAMES)
    elif len(value) > LONGEST_TEMPLATE:
        raise BudgetError(
            f"The summary template has {len(value):,} characters.",
            hint=f"Write it in {LONGEST_TEMPLATE:,} characters at most.",
        )


@frozen
class ModelSummary:
    """
    The summary that a model wrote.

    ``problem`` is the reason why there is no summary, or why it is incomplete; "" if there is no
    problem, or nothing to summarize. ``marked`` counts its claims without evidence.
    """

    text: str = ""
    problem: str = ""
    marked: int = 0
