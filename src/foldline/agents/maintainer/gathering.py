"""What a question is asked with: the mode, the survey, what is known, what changed since."""

from __future__ import annotations

import time
from collections.abc import Iterator

from foldline.agents.maintainer.conflicts import Conflict
from foldline.agents.maintainer.guidance import Budget, Trail, guided
from foldline.agents.maintainer.knowing import Knowledge
from foldline.agents.maintainer.modes import PARTS, TASKS, WITHOUT_MODEL, Mode
from foldline.agents.maintainer.survey import Survey, told
from foldline.context import ContextPacket
from foldline.notes import Note

MOST_CONFLICTS = 8


def packets(
    mode: Mode,
    survey: Survey,
    known: Knowledge,
    trail: Trail,
    budget: Budget,
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
    now = time.time()
    out = []
    if PARTS[mode]:
        out.append(_packet(told(survey, PARTS[mode], most=8), "code_structure", now, 0.7))
    if mode != "plan":
        out.append(_packet(guided(survey, trail, budget, question), "exploration", now, 0.6))
    if mode == "plan":
        tasks = "\n".join(task_lines(known))
        out += [_packet(tasks, "task_plan", now, 0.9)] if tasks else []
    stale = known.conflicts()
    if stale:
        out.append(_packet(conflict_text(stale), "state", now, 0.85))
    return out


def conflict_text(found: tuple[Conflict, ...]) -> str:
    """Say what does not go together any more, and which side is right."""
    lines = [
        f"- {one.why} ({', '.join(one.ids)}); right: {one.right}" for one in found[:MOST_CONFLICTS]
    ]
    more = len(found) - len(lines)
    lines += [f"- and {more} more; `look_up` marks them"] if more > 0 else []
    return "\n".join(("What is recorded and no longer holds, or stands twice:", *lines))


def task_lines(known: Knowledge) -> Iterator[str]:
    """Yield the open tasks, and then the notes that ask for something, as a list."""
    graph = known.notes.tasks.graph()
    for task_id in graph.order:
        standing = graph.standings[task_id]
        if standing.state not in ("done", "cancelled"):
            why = f": {standing.why}" if standing.why else ""
            yield f"- task {task_id} {standing.metadata.title} [{standing.state}{why}]"
    for note in known.all_notes():
        if note.status is None and note.type in ("blocker", "action", "task_state"):
            yield f"- {note.type} {note.id} {note.title}{_from(note)}"


def without_model(mode: Mode, survey: Survey, known: Knowledge, question: str) -> str:
    """Return what can be said without a model, and what one would add."""
    parts = [f"# {question}"]
    if mode == "plan":
        parts.append("## Open\n" + ("\n".join(task_lines(known)) or "Nothing is recorded yet."))
        parts.append("## Look at next\n" + guided(survey, Trail(), Budget()))
    else:
        parts.append(told(survey))
    stale = known.conflicts()
    if stale:
        parts.append("## Check again\n" + conflict_text(stale))
    parts.append(f"## Without a model\n{WITHOUT_MODEL[mode]}")
    return "\n\n".join(parts)


def instructions(mode: Mode) -> str:
    """Return what is said with the question; the system prompt is the same in every mode."""
    return TASKS[mode]


def _from(note: Note) -> str:
    return f" ({note.source.partition('@')[0]})" if note.source else ""


def _packet(text: str, kind: str, when: float, relevance: float) -> ContextPacket:
    metadata = {"type": kind, "title": kind.replace("_", " ")}
    return ContextPacket(text, when, None, relevance, metadata)
