"""The account that a model writes: how it is requested, and what came of it."""

from __future__ import annotations

from typing import Final

from foldline.core.validation import check_name, positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen

TEMPLATE_NAMES: Final = ("account", "state_snapshot", "nine_sections", "five_sections")
"""The templates that come with Foldline; `foldline.summary.templates` has their texts."""

LONGEST_NAME: Final = 40
"""Characters that the name of a language may have: it goes into a prompt."""

LONGEST_TEMPLATE: Final = 20_000
"""Characters that a template of one's own may have."""


@frozen
class SummarySettings:
    """
    How an account of what is folded is requested from a model.

    ``template`` names what it writes, or is the text of a template of one's own, which has more
    than one word. ``language`` is "auto" for that of the user, or a code or name. ``retries`` is
    how often a request is made again when its answer cannot be used, 0 for a single attempt.
    ``chunks`` is the most requests among which a long history is divided. ``share`` is the
    fraction of a snapshot that the account may take, ``max_tokens`` its greatest length in
    tokens, None for what the share leaves.

    Raises:
        BudgetError: A value is impossible; the sentence says which.
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
    """Return True if a template is the text of one, rather than the name of one."""
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
    The account that a model wrote.

    ``problem`` says why there is no account, or why it does not reach to the end; "" when all is
    well, or when there was nothing to summarize. ``marked`` counts its claims without evidence.
    """

    text: str = ""
    problem: str = ""
    marked: int = 0
