"""
The prompt: rules that stand apart, and the conversation as plain text behind a fence.

The fence carries a mark that is made from what it holds, so that nothing inside can close it.
Texts are put together, never formatted: braces in them mean nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from foldline.frozen import frozen
from foldline.relevance.language import CHINESE, Language
from foldline.summary.templates import Template, read_texts
from foldline.values.identity import derived_id

MARK = 8
"""Characters of the mark of a fence."""

LEAST_USED = 0.8
"""How much of its room an account is asked to fill, as a fraction of it."""

SLACK = 1.1
"""How much longer an account may come than it was asked to be: models do not count."""


class Wording(NamedTuple):
    """
    What a request says around the conversation.

    Names in braces are replaced one by one. ``unit`` is how many of what ``length`` counts besides
    tokens, words or characters, make a token.
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
    What is asked of a model besides reading.

    ``tokens`` is how long the account is asked to be, ``tools`` the exact names in the
    conversation, ``plan`` the step of the plan that was last agreed on, "" when there is none.
    ``focus`` is what the caller wants to be kept above all. ``shortened`` is what stays in sight
    in part only, ``beside`` what the user said that stays whole, and ``others`` what stays
    besides: the steps of the first and the last message, and how many there are.
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
        """The longest account that is taken, in tokens."""
        return int(self.tokens * SLACK)


@frozen
class SummaryPrompt:
    """A request: the rules that stand apart, the rest of it, and the mark of its fences."""

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
        task: What is asked.
        transcript: The steps to read.
        previous: The account so far, which is to be brought up to date.
        more: Whether further steps will follow in another request.
        problem: Why the last answer could not be used.
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
    """Say how long the account is to be: in tokens, and in what a model counts better."""
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
    """Make a mark that stands in none of the texts."""
    mark = derived_id(*texts)[:MARK]
    while any(mark in text for text in texts):
        mark = derived_id(mark, *texts)[:MARK]
    return mark


def _fence(name: str, mark: str, text: str) -> str:
    return f"<{name}-{mark}>\n{text}\n</{name}-{mark}>"
