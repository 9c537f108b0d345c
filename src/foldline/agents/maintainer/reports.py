"""Figures and the report of a maintainer, as JSON values and as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final

from foldline.agents.maintainer.exploration import calls_by_tool
from foldline.agents.maintainer.questions import task_lines
from foldline.agents.maintainer.survey.codebase import CodebaseSurvey
from foldline.atomic_files import replace_file
from foldline.errors import StoreError
from foldline.tools.terminal.refusal import visible

if TYPE_CHECKING:
    from foldline.agents.maintainer.maintainer import CodebaseMaintainer


def build_stats(one: CodebaseMaintainer) -> dict[str, Any]:
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


def build_report(one: CodebaseMaintainer) -> dict[str, Any]:
    """Return the figures with what is open, what does not hold any more, and the survey."""
    notes = [
        {"id": note.id, "type": note.type, "title": note.title, "source": note.source}
        for note in one.knowledge.all_notes()[:200]
    ]
    return build_stats(one) | {
        "open": list(task_lines(one.knowledge)),
        "conflicts": [found.to_dict() for found in one.conflicts()],
        "all_notes": notes,
        "survey": one.survey().to_dict(),
    }


def save_report(one: CodebaseMaintainer, told: dict[str, Any]) -> dict[str, Any]:
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
        replace_file(shown, report_page(told, one.survey()).encode("utf-8", "replace"))
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


STYLE: Final = """
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#5b6570;--line:#d8dee4;--back:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#98a2ad;--line:#343b43;--back:#15181c}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);max-width:62rem;
margin:2rem auto;padding:0 1rem}
h1{margin-bottom:0}h2{margin-top:2.2rem;font-size:1.2rem}p.soft,td.soft{color:var(--soft)}
dl{display:flex;flex-wrap:wrap;gap:.6rem 2rem;margin:1rem 0}dt{color:var(--soft);font-size:.85rem}
dd{margin:0;font-size:1.4rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}
code{font-size:.9em;overflow-wrap:anywhere}
meter{width:8rem;height:.8rem}
"""

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

MOST: Final = 25


def report_page(report: Mapping[str, Any], survey: CodebaseSurvey) -> str:
    """
    Return a report as a page.

    Args:
        report: What `foldline.agents.maintainer.reports.build_report` returned.
        survey: The survey in it.
    """
    info = report["session_info"]
    parts = [
        f"<h1>{_t(info['project'])}</h1>",
        f'<p class="soft">{_t(info["codebase"])} · {_t(info["session_id"])}</p>',
        _figures(report, survey),
        _list("Open", report["open"]),
        _list("Check again", [one["why"] for one in report["conflicts"]]),
        _notes(report["all_notes"]),
        _spots(survey),
        _functions(survey),
        _list(
            "Left for later",
            [f"{m.kind} {m.path}:{m.line} {m.text}" for m in survey.markers[:MOST]],
        ),
        _list("No test is named for", survey.layout.without[:MOST]),
        _list("Not looked at", survey.troubles),
    ]
    title = _t(f"Maintenance of {info['project']}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def _figures(report: Mapping[str, Any], survey: CodebaseSurvey) -> str:
    rows = {
        "files": f"{survey.files:,}",
        "lines": f"{survey.lines:,}",
        "tests for a line of code": f"{survey.layout.ratio:.2f}",
        "notes": f"{report['notes']['total_notes']:,}",
        "commands": f"{report['activity']['commands_executed']:,}",
        "messages": f"{report['conversation']['messages']:,}",
        "compactions": f"{report['conversation']['compactions']:,}",
    }
    cells = "".join(f"<div><dt>{_t(name)}</dt><dd>{_t(v)}</dd></div>" for name, v in rows.items())
    return f"<dl>{cells}</dl>"


def _notes(notes: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            _t(one["type"]),
            _t(one["title"]),
            _code(one["source"].partition("@")[0]),
            _code(one["id"]),
        )
        for one in notes[:MOST]
    ]
    return _table("Notes", ("type", "title", "place", "id"), rows)


def _spots(survey: CodebaseSurvey) -> str:
    rows = [
        (
            _code(one.path),
            f'<meter value="{one.score}" max="1">{one.score:.2f}</meter>',
            f"{one.lines:,}",
            f"{one.commits:,}",
        )
        for one in survey.spots[:MOST]
        if one.score
    ]
    return _table("Hot spots", ("file", "heat", "#lines", "#commits"), rows)


def _functions(survey: CodebaseSurvey) -> str:
    rows = [
        (_code(one.name), _code(f"{one.path}:{one.line}"), str(one.complexity), str(one.lines))
        for one in survey.complexity.functions[:MOST]
        if one.complexity > 1
    ]
    return _table("Complex functions", ("function", "place", "#complexity", "#lines"), rows)


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Draw a table of cells that are HTML already; ``#`` before a heading makes numbers of it."""
    if not rows:
        return ""
    numbers = [name.startswith("#") for name in head]
    heads = "".join(f"<th>{_t(name.lstrip('#'))}</th>" for name in head)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td class="n">{cell}</td>' if number else f"<td>{cell}</td>"
            for cell, number in zip(row, numbers, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<h2>{_t(title)}</h2><div class="scroll">{table}</div>'


def _list(title: str, rows: Iterable[str]) -> str:
    items = "".join(f"<li>{_t(row.removeprefix('- '))}</li>" for row in rows)
    return f"<h2>{_t(title)}</h2><ul>{items}</ul>" if items else ""


def _code(text: str) -> str:
    return f"<code>{_t(text)}</code>" if text else ""


def _t(text: object) -> str:
    return escape(visible(str(text), 500))
