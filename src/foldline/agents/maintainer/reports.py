"""Figures and the report of a maintainer, as JSON values and as files."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from foldline.agents.maintainer.gathering import task_lines
from foldline.agents.maintainer.page import page
from foldline.agents.maintainer.replaying import calls_by_tool
from foldline.errors import StoreError
from foldline.tools.atomic import replace_file

if TYPE_CHECKING:
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer


def stats(one: CodebaseMaintainer) -> dict[str, Any]:
    """
    Return the figures of a maintainer.

    ``activity`` and ``exploration`` are those of this process, ``conversation`` those of all days.
    """
    gone = datetime.now(UTC) - one.started
    watch, known = one.watch, one.knowledge
    return {
        "session_info": {
            "session_id": one.session_id,
            "project": one.project_name,
            "codebase": str(one.root.path),
            "started": one.started.isoformat(timespec="seconds"),
            "duration_seconds": round(gone.total_seconds(), 3),
        },
        "activity": {
            "commands_executed": watch.commands,
            "notes_created": known.created,
            "issues_found": known.blockers,
        },
        "exploration": {
            "looks": len(watch.trail.looks),
            "files": len(watch.trail.files),
            "tokens": watch.trail.tokens,
            "novelty": round(watch.trail.novelty(watch.budget.window), 3),
        },
        "conversation": _conversation(one),
        "notes": one.note_tool.run({"action": "summary"}),
    }


def report(one: CodebaseMaintainer) -> dict[str, Any]:
    """Return the figures with what is open, what does not hold any more, and the survey."""
    notes = [
        {"id": note.id, "type": note.type, "title": note.title, "source": note.source}
        for note in one.knowledge.all_notes()[:200]
    ]
    return stats(one) | {
        "open": list(task_lines(one.knowledge)),
        "conflicts": [found.to_dict() for found in one.conflicts()],
        "all_notes": notes,
        "survey": one.survey().to_dict(),
    }


def saved(one: CodebaseMaintainer, told: dict[str, Any]) -> dict[str, Any]:
    """
    Write a report as JSON and as a page, and return it with the names of both files.

    Raises:
        StoreError: They cannot be written.
    """
    try:
        file = one.place.report(one.session_id, "json")
        shown = one.place.report(one.session_id, "html")
        text = json.dumps(told, ensure_ascii=False, indent=2, default=str)
        replace_file(file, f"{text}\n".encode("utf-8", "replace"))
        replace_file(shown, page(told, one.survey()).encode("utf-8", "replace"))
    except OSError as error:
        raise StoreError(f"The report cannot be written: {error.strerror}.") from error
    return told | {"report_file": str(file), "report_page": str(shown)}


def _conversation(one: CodebaseMaintainer) -> dict[str, Any]:
    """Return the figures of all days; nothing where no model ever answered."""
    agent = one.opened
    if agent is None:
        return {"messages": 0, "calls": {}, "compactions": 0}
    session = agent.session
    return {
        "messages": len(session.messages),
        "calls": calls_by_tool(session.messages),
        "compactions": sum(receipt.status == "compacted" for receipt in session.receipts),
    }
