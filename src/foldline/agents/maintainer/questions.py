"""Questions to a maintainer: the modes, what a question is asked with, and what an answer is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, Literal, NoReturn, Self, TypeAlias, get_args

from foldline.agents.limits import AgentResult
from foldline.agents.maintainer.conflicts import RecordConflict
from foldline.agents.maintainer.exploration import ExplorationBudget, Trail, describe_exploration
from foldline.agents.maintainer.knowledge import CodebaseKnowledge
from foldline.agents.maintainer.survey import CodebaseSurvey, render_survey
from foldline.context import ContextPacket
from foldline.tools.description import read_tables

Mode: TypeAlias = Literal["auto", "explore", "analyze", "plan"]

MODES: Final[tuple[Mode, ...]] = get_args(Mode)

PROMPTS: Final = read_tables("foldline.agents", "prompts.toml")
SYSTEM: Final[str] = PROMPTS["maintainer"]["system"]

WITHOUT: str = "without a model"
"""The status of an answer that no model gave."""


class MaintainerAnswer(str):
    """
    An answer. It is its own text.

    Args:
        text: The text.
        mode: In which mode it was given.
        result: How the run of the agent ended; None where no model was asked.
        notes: The ids of the notes that the answer names.
    """

    __slots__ = ("mode", "notes", "result")
    mode: Mode
    result: AgentResult | None
    notes: tuple[str, ...]

    def __new__(
        cls,
        text: str,
        mode: Mode,
        result: AgentResult | None = None,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """Make an answer; see the class."""
        made = super().__new__(cls, text)
        object.__setattr__(made, "mode", mode)
        object.__setattr__(made, "result", result)
        object.__setattr__(made, "notes", notes)
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"an answer does not change; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.mode, self.result, self.notes))

    @property
    def status(self) -> str:
        """How the run ended, as `AgentResult.status`; or that no model was asked."""
        return WITHOUT if self.result is None else self.result.status

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        result = self.result or AgentResult("done", "")
        return {
            "mode": self.mode,
            "status": self.status,
            "text": str(self),
            "why": result.note,
            "notes": list(self.notes),
            "spent": result.spending.to_dict(),
        }


MOST_CONFLICTS = 8


def question_packets(
    mode: Mode,
    survey: CodebaseSurvey,
    known: CodebaseKnowledge,
    trail: Trail,
    budget: ExplorationBudget,
    question: str,
) -> list[ContextPacket]:
    """
    Gather what a question is asked with, besides what is known about it.

    Args:
        mode: What is to be done.
        survey: What was counted; its parts by mode.
        known: Notes and memory, for what has changed, and the tasks.
        trail: What was looked at.
        budget: How long to explore.
        question: What was asked.
    """
    found: list[tuple[str, str, float]] = []
    if parts := PROMPTS["modes"][mode]["survey"]:
        found.append(("code_structure", render_survey(survey, parts, most=8), 0.7))
    if mode != "plan":
        far = describe_exploration(survey, trail, budget, question)
        found.append(("exploration", far, 0.6))
    elif tasks := "\n".join(task_lines(known)):
        found.append(("task_plan", tasks, 0.9))
    if stale := known.conflicts():
        found.append(("state", conflict_text(stale), 0.85))
    now = time.time()
    return [
        ContextPacket(text, now, None, score, {"type": kind, "title": kind.replace("_", " ")})
        for kind, text, score in found
    ]


def conflict_text(found: tuple[RecordConflict, ...]) -> str:
    """Return a list of what contradicts each other, and which side is right."""
    lines = [
        f"- {one.why} ({', '.join(one.ids)}); right: {one.right}" for one in found[:MOST_CONFLICTS]
    ]
    more = len(found) - len(lines)
    lines += [f"- and {more} more; `look_up` marks them"] if more > 0 else []
    return "\n".join(("What is recorded and no longer holds, or stands twice:", *lines))


def task_lines(known: CodebaseKnowledge) -> Iterator[str]:
    """Yield the open tasks, and then the notes that ask for something, as a list."""
    graph = known.notes.tasks.graph()
    for task_id in graph.order:
        standing = graph.standings[task_id]
        if standing.state not in ("done", "cancelled"):
            why = f": {standing.why}" if standing.why else ""
            yield f"- task {task_id} {standing.metadata.title} [{standing.state}{why}]"
    for note in known.all_notes():
        if note.status is None and note.type in ("blocker", "action", "task_state"):
            place = f" ({note.source.partition('@')[0]})" if note.source else ""
            yield f"- {note.type} {note.id} {note.title}{place}"


def answer_without_model(
    mode: Mode, survey: CodebaseSurvey, known: CodebaseKnowledge, question: str
) -> str:
    """Return what can be said without a model, and what one would add."""
    parts = [f"# {question}"]
    if mode == "plan":
        parts.append("## Open\n" + ("\n".join(task_lines(known)) or "Nothing is recorded yet."))
        far = describe_exploration(survey, Trail(), ExplorationBudget())
        parts.append(f"## Look at next\n{far}")
    else:
        parts.append(render_survey(survey))
    if stale := known.conflicts():
        parts.append("## Check again\n" + conflict_text(stale))
    parts.append(f"## Without a model\n{PROMPTS['modes'][mode]['without_model']}")
    return "\n\n".join(parts)
