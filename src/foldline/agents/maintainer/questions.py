"""Questions to a maintainer: the modes, the context of a question, and the answer."""

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
"""The status of an answer given without a model."""


class MaintainerAnswer(str):
    """
    An answer: its text, with metadata as attributes.

    Args:
        text: The text.
        mode: The mode of the question.
        result: The result of the agent's run; None without a model.
        notes: The ids of the notes that the answer cites.
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
        """Create an answer; see the class."""
        made = super().__new__(cls, text)
        object.__setattr__(made, "mode", mode)
        object.__setattr__(made, "result", result)
        object.__setattr__(made, "notes", notes)
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"an answer is immutable; {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.mode, self.result, self.notes))

    @property
    def status(self) -> str:
        """The `AgentResult.status` of the run, or `WITHOUT` without a model."""
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
    Collect the context of a question, apart from matching notes and memories.

    Args:
        mode: The mode, which selects parts of the survey.
        survey: The survey of the codebase.
        known: Notes and memory, for conflicts and open tasks.
        trail: The exploration so far.
        budget: The limits of the exploration.
        question: The question.
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
    """Return the conflicts as a list, each with the side that is right."""
    lines = [
        f"- {one.why} ({', '.join(one.ids)}); right: {one.right}" for one in found[:MOST_CONFLICTS]
    ]
    more = len(found) - len(lines)
    lines += [f"- and {more} more; `look_up` marks them"] if more > 0 else []
    return "\n".join(("Records that no longer hold, or are duplicates:", *lines))


def task_lines(known: CodebaseKnowledge) -> Iterator[str]:
    """Yield list items of the open tasks, then of the notes that require action."""
    graph = known.notes.tasks.graph()
    for task_id in graph.order:
        task = graph.states[task_id]
        if task.state not in ("done", "cancelled"):
            why = f": {task.why}" if task.why else ""
            yield f"- task {task_id} {task.metadata.title} [{task.state}{why}]"
    for note in known.all_notes():
        if note.status is None and note.type in ("blocker", "action", "task_state"):
            place = f" ({note.source.partition('@')[0]})" if note.source else ""
            yield f"- {note.type} {note.id} {note.title}{place}"


def answer_without_model(
    mode: Mode, survey: CodebaseSurvey, known: CodebaseKnowledge, question: str
) -> str:
    """Return the answer that is possible without a model, and what a model would add."""
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
