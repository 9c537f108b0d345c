"""Statistics and reports of a maintainer: as JSON values, as Markdown, and as an HTML page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any, Final

from foldline.agents.maintainer.questions import task_lines
from foldline.agents.maintainer.survey import CodebaseSurvey, render_survey
from foldline.atomic_files import replace_file
from foldline.errors import StoreError
from foldline.tools.terminal.refusal import visible

if TYPE_CHECKING:
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer


def build_stats(one: CodebaseMaintainer) -> dict[str, Any]:
    """
    Return the statistics of a maintainer.

    ``activity`` and ``exploration`` cover this process, ``conversation`` covers all days.
    """
    elapsed = datetime.now(UTC) - one.started
    watch, known, trail = one.watch, one.knowledge, one.watch.trail
    return {
        "session_info": {
            "session_id": one.session_id,
            "project": one.project_name,
            "codebase": str(one.root.path),
            "started": one.started.isoformat(timespec="seconds"),
            "duration_seconds": round(elapsed.total_seconds(), 3),
        },
        "activity": {
            "commands_executed": watch.commands,
            "notes_created": known.created,
            "issues_found": known.blockers,
        },
        "exploration": {
            "looks": len(trail.looks),
            "files": len(trail.files),
            "tokens": trail.tokens,
            "novelty": round(trail.novelty(watch.budget.window), 3),
        },
        "conversation": _conversation(one),
        "notes": one.note_tool.run({"action": "summary"}),
    }


def build_report(one: CodebaseMaintainer) -> dict[str, Any]:
    """Return the statistics with open tasks, conflicts and the survey."""
    names, newest = ("id", "type", "title", "source"), one.knowledge.all_notes()[:200]
    notes = [{name: getattr(note, name) for name in names} for note in newest]
    return build_stats(one) | {
        "open": list(task_lines(one.knowledge)),
        "conflicts": [found.to_dict() for found in one.conflicts()],
        "all_notes": notes,
        "survey": one.survey().to_dict(),
    }


def save_report(one: CodebaseMaintainer, report: dict[str, Any]) -> dict[str, Any]:
    """
    Write a report as JSON and as an HTML page, and return it with the paths of both files.

    Raises:
        StoreError: They cannot be written.
    """
    try:
        file = one.place.report(one.session_id, "json")
        page = one.place.report(one.session_id, "html")
        text = json.dumps(report, ensure_ascii=False, indent=2, default=str)
        replace_file(file, f"{text}\n".encode("utf-8", "replace"))
        replace_file(page, report_page(report, one.survey()).encode("utf-8", "replace"))
    except OSError as error:
        raise StoreError(f"The report cannot be written: {error.strerror}.") from error
    return report | {"report_file": str(file), "report_page": str(page)}


def _conversation(one: CodebaseMaintainer) -> dict[str, Any]:
    """Return the statistics of all days; empty if no model ever answered."""
    if one.opened is None:
        return {"messages": 0, "calls": {}, "compactions": 0}
    messages, receipts = one.opened.session.messages, one.opened.session.receipts
    calls = Counter(call.name for message in messages for call in message.calls)
    done = sum(receipt.status == "compacted" for receipt in receipts)
    return {"messages": len(messages), "calls": dict(calls.most_common()), "compactions": done}


MOST: Final = 25


def report_page(report: Mapping[str, Any], survey: CodebaseSurvey) -> str:
    """
    Return a report as an HTML page.

    Args:
        report: The result of `build_report`.
        survey: The survey of the report, for the tables.
    """
    from markdown_it import MarkdownIt

    # Only headings, lists and tables are rendered; any other markup stays text and is escaped.
    markdown = MarkdownIt("zero").enable(["heading", "list", "table"])
    title = escape(visible(f"Maintenance of {report['session_info']['project']}"))
    page = files("foldline.agents.maintainer").joinpath("report.html").read_text("utf-8")
    body = markdown.render(report_text(report, survey))
    return Template(page).substitute(title=title, body=body)


def report_text(report: Mapping[str, Any], survey: CodebaseSurvey) -> str:
    """Return a report as Markdown; see `report_page`."""
    info, conversation = report["session_info"], report["conversation"]
    figures = {name: conversation[name] for name in ("messages", "compactions")}
    commands = report["activity"]["commands_executed"]
    figures = {"notes": report["notes"]["total_notes"], "commands": commands} | figures
    parts = [
        f"# {visible(info['project'])}",
        f"{visible(info['codebase'])} · {info['session_id']}",
        ", ".join(f"{number:,} {name}" for name, number in figures.items()),
        _list("Open", report["open"]),
        _list("Check again", [one["why"] for one in report["conflicts"]]),
        _list("Notes", map(_note_line, report["all_notes"][:MOST])),
        render_survey(survey, most=MOST),
    ]
    return "\n\n".join(filter(None, parts))


def _note_line(note: Mapping[str, Any]) -> str:
    place = note["source"].partition("@")[0]
    return " · ".join(filter(None, (note["type"], note["title"], place, note["id"])))


def _list(title: str, rows: Iterable[str]) -> str:
    items = [f"- {visible(row.removeprefix('- '), 500)}" for row in rows]
    return "\n".join([f"## {title}", *items]) if items else ""
