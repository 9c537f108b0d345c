"""
The prompt: rules as a system prompt, and the conversation as plain text inside a fence.

The fence has a mark derived from its content, so that nothing inside can close it.
Texts are concatenated, never formatted: braces in them have no effect.
"""

from __future__ import annotations

from typing import NamedTuple

from foldline.frozen import frozen
from foldline.relevance.language import CHINESE, Language
from foldline.summary.templates import Template, read_texts
from foldline.values.identity import derived_id

MARK = 8
"""Length of the mark of a fence, in characters."""

LEAST_USED = 0.8
"""Requested minimum length of an account, as a fraction of its maximum."""

SLACK = 1.1
"""Accepted length of an account, as a multiple of the requested one: models do not count."""


class Wording(NamedTuple):
    """
    The texts of a request around the conversation.

    Names in braces are replaced one by one. ``unit`` is how many of the other unit in ``length``,
    words or characters, make a token.
    """

    rules: str
    language: str
    length: str
    unit: float
    tools: str
    focus: str
    plan: str
    shortened: str
    beside: str
    others: str
    previous: str
    transcript: str
    later: str
    retry: str
    end: str


_WORDINGS = {language: Wording(**texts) for language, texts in read_texts("wording.toml").items()}


@frozen
class SummaryTask:
    """
    The instructions for one account.

    ``tokens`` is the requested length of the account, ``tools`` the exact names of the tools of
    the conversation, ``plan`` the step that last set the plan, "" if there is none.
    ``focus`` is the most important content by the caller's words. ``shortened`` are the texts
    that stay in view only in part, ``beside`` the user's messages that stay whole, and ``others``
    the other messages that stay: the first and the last handle, and their number.
    """

    template: Template
    tokens: int
    language: Language | None = None
    tools: tuple[str, ...] = ()
    focus: str = ""
    plan: str = ""
    shortened: str = ""
    beside: str = ""
    others: tuple[str, str, int] | None = None

    @property
    def limit(self) -> int:
        """The maximum length of an accepted account, in tokens."""
        return int(self.tokens * SLACK)


@frozen
class SummaryPrompt:
    """A request: the rules as a system prompt, the text, and the mark of its fences."""

    system: str
    text: str
    mark: str


def compose(
    task: SummaryTask,
    transcript: str,
    previous: str = "",
    *,
    more: bool = False,
    problem: str = "",
) -> SummaryPrompt:
    """
    Write a request.

    Args:
        task: The instructions.
        transcript: The steps to read.
        previous: The account so far, to be updated.
        more: Whether further steps will follow in another request.
        problem: Why the last answer was rejected.
    """
    words = _WORDINGS["chinese" if task.language == CHINESE else "english"]
    mark = _mark(task.shortened, task.beside, previous, transcript)
    language_name = "the language of the user" if task.language is None else task.language.name
    lines = [
        task.template.prompt,
        "",
        words.language.replace("{language}", language_name),
        _length(words, task.tokens),
    ]
    if task.tools:
        lines.append(words.tools + ", ".join(task.tools))
    if task.plan:
        lines.append(words.plan.replace("{step}", task.plan))
    if task.focus:
        lines.append(words.focus + task.focus)
    for words_before, name, text in (
        (words.shortened, "shortened", task.shortened),
        (words.beside, "beside", _beside(words, task)),
        (words.previous, "previous", previous),
        (words.transcript, "transcript", transcript),
    ):
        if text:
            lines += ["", words_before.replace("{mark}", mark), _fence(name, mark, text)]
    lines.append("")
    if more:
        lines.append(words.later)
    if problem:
        lines.append(words.retry.replace("{problem}", problem))
    lines.append(words.end)
    return SummaryPrompt(words.rules.replace("{mark}", mark), "\n".join(lines), mark)


def _length(words: Wording, tokens: int) -> str:
    """Write the requested length: in tokens, and in a unit that models count better."""
    sizes = {
        "{least}": LEAST_USED * tokens,
        "{tokens}": tokens,
        "{fewest}": words.unit * LEAST_USED * tokens,
        "{most}": words.unit * tokens,
    }
    text = words.length
    for name, size in sizes.items():
        text = text.replace(name, f"{round(size):,}")
    return text


def _beside(words: Wording, task: SummaryTask) -> str:
    if task.others is None:
        return task.beside
    first, last, count = task.others
    text = words.others.replace("{first}", first).replace("{last}", last)
    return "\n".join(filter(None, (task.beside, text.replace("{count}", f"{count:,}"))))


def _mark(*texts: str) -> str:
    """Return a mark that none of the texts contains."""
    mark = derived_id(*texts)[:MARK]
    while any(mark in text for text in texts):
        mark = derived_id(mark, *texts)[:MARK]
    return mark


def _fence(name: str, mark: str, text: str) -> str:
    return f"<{name}-{mark}>\n{text}\n</{name}-{mark}>"
