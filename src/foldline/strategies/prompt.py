"""
The prompt: rules that stand apart, and the conversation as plain text behind a fence.

The fence carries a mark that is made from what it holds, so that nothing inside can close it.
Texts are put together, never formatted: braces in them mean nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from foldline.core.identity import derived_id
from foldline.core.language import CHINESE, Language
from foldline.strategies import wording, wording_zh
from foldline.strategies.templates import Template

MARK = 8
"""Characters of the mark of a fence."""


@dataclass(frozen=True, slots=True)
class Task:
    """
    What is asked of a model besides reading.

    ``tokens`` is the longest account, ``tools`` the exact names in the conversation, ``plan`` the
    step of the plan that was last agreed on, "" when there is none. ``focus`` is what the caller
    wants to be kept above all, ``beside`` what the user said that stays in sight.
    """

    template: Template
    tokens: int
    language: Language | None = None
    tools: tuple[str, ...] = ()
    focus: str = ""
    plan: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request: the rules that stand apart, the rest of it, and the mark of its fences."""

    system: str
    text: str
    mark: str


def compose(
    task: Task, transcript: str, previous: str = "", *, more: bool = False, problem: str = ""
) -> Prompt:
    """
    Write a request.

    Args:
        task: What is asked.
        transcript: The steps to read.
        previous: The account so far, which is to be brought up to date.
        more: Whether further steps will follow in another request.
        problem: Why the last answer could not be used.
    """
    words = wording_zh.CHINESE if task.language == CHINESE else wording.ENGLISH
    mark = _mark(task.beside, previous, transcript)
    spoken = "the language of the user" if task.language is None else task.language.name
    lines = [
        task.template.prompt,
        "",
        words.language.replace("{language}", spoken),
        words.length.replace("{tokens}", str(task.tokens)),
    ]
    if task.tools:
        lines.append(words.tools + ", ".join(task.tools))
    if task.plan:
        lines.append(words.plan.replace("{step}", task.plan))
    if task.focus:
        lines.append(words.focus + task.focus)
    for told, name, text in (
        (words.beside, "beside", task.beside),
        (words.previous, "previous", previous),
        (words.transcript, "transcript", transcript),
    ):
        if text:
            lines += ["", told.replace("{mark}", mark), _fenced(name, mark, text)]
    lines.append("")
    if more:
        lines.append(words.later)
    if problem:
        lines.append(words.retry.replace("{problem}", problem))
    lines.append(words.end)
    return Prompt(words.rules.replace("{mark}", mark), "\n".join(lines), mark)


def _mark(*texts: str) -> str:
    """Make a mark that stands in none of the texts."""
    mark = derived_id(*texts)[:MARK]
    while any(mark in text for text in texts):
        mark = derived_id(mark, *texts)[:MARK]
    return mark


def _fenced(name: str, mark: str, text: str) -> str:
    return f"<{name}-{mark}>\n{text}\n</{name}-{mark}>"
