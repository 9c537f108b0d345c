"""The tools of a maintainer: how it looks, what it records, and what it is told about both."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from foldline.agents.maintainer.exploration import (
    ExplorationBudget,
    Trail,
    describe_exploration,
    stop_reason,
)
from foldline.agents.maintainer.knowledge import (
    AUTHORITIES,
    VOLATILITIES,
    CodebaseKnowledge,
    KnowledgeRecord,
    RecordResult,
)
from foldline.agents.maintainer.survey.codebase import CodebaseSurvey
from foldline.errors import FoldlineError, InputError
from foldline.notes.note import KINDS
from foldline.tools.arguments import object_schema, text_schema
from foldline.tools.notes import NOTE, NoteTool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Action, Tool

TEXT: Final = {"type": "string"}
AUTHORITY: Final = text_schema("Who vouches for it: the files themselves, a person, or you.")
VOLATILITY: Final = text_schema("How long it holds: for the moment, for this work, or lasting.")

RECORD: Final = object_schema(
    "title content",
    title=TEXT | {"description": "What it is, in one line.", "minLength": 1},
    content=text_schema("Markdown; enough for somebody who was not here."),
    type={"type": "string", "enum": list(KINDS), "default": "general"},
    source=text_schema("Where it is from: path, path:12 or path:12-20."),
    authority=AUTHORITY | {"enum": list(AUTHORITIES), "default": "agent"},
    volatility=VOLATILITY | {"enum": list(VOLATILITIES), "default": "lasting"},
    tags={"type": "array", "items": TEXT, "maxItems": 16},
)

LOOK_UP: Final = object_schema(
    query=text_schema("A question or words; empty for what is newest."),
    types={"type": "array", "items": {"type": "string", "enum": list(KINDS)}},
    limit={"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
)

PROBE: Final = object_schema(question=text_schema("What you want to find out."))

NOTE_ACTIONS: Final = ("read", "update", "delete", "list", "task", "progress", "tasks")


@dataclass(slots=True)
class ExplorationWatch:
    """What a maintainer did in this process, and where its exploration stands."""

    budget: ExplorationBudget
    trail: Trail = field(default_factory=Trail)
    commands: int = 0
    question: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_look(self, call: str, given: dict[str, Any], output: ToolOutput) -> ToolOutput:
        """Note what a look brought, and add to it when it is time to conclude."""
        with self._lock:
            self.commands += call == "terminal"
            if output.ok:
                self.trail = self.trail.after(call, given, output.text)
            stop = stop_reason(self.trail, self.budget)
        if not stop:
            return output
        message = f"[Exploration: {stop}. Conclude, and record what you found.]"
        return replace(output, text=f"{output.text}\n\n{message}")

    def watch(self, tool: Tool) -> Tool:
        """Return a tool that looks around as one that is watched."""
        inner = tool.async_action

        def act(given: dict[str, Any]) -> ToolOutput:
            return self.note_look(tool.name, given, tool.action(given))

        async def aact(given: dict[str, Any]) -> ToolOutput:
            assert inner is not None  # noqa: S101  # used only where there is one
            return self.note_look(tool.name, given, await inner(given))

        return replace(tool, action=act, async_action=aact if inner is not None else None)


def knowledge_tools(known: CodebaseKnowledge, notes: NoteTool) -> list[Tool]:
    """Return the tools record, look_up and note."""
    record = Tool(
        "record",
        "Record what the files do not say themselves: a finding, decision, blocker, action or "
        "plan. It goes where it belongs by who vouches for it and how long it holds.",
        RECORD,
        _return_errors(lambda given: _record_output(known.keep(_read_record(given)))),
        labels=frozenset({"read", "plan"}),
    )
    look_up = Tool(
        "look_up",
        "Find what was recorded on any day, in notes and memory. What has `attention` was taken "
        "from a place that is another now.",
        LOOK_UP,
        _return_errors(lambda given: _look_up_output(known, given)),
        labels=frozenset({"read"}),
    )
    return [record, look_up, _note(notes)]


def probe_tool(survey: Callable[[], CodebaseSurvey], watch: ExplorationWatch) -> Tool:
    """Return the tool next_probe."""

    def act(given: dict[str, Any]) -> ToolOutput:
        question = given.get("question") or watch.question
        return ToolOutput(describe_exploration(survey(), watch.trail, watch.budget, question))

    return Tool(
        "next_probe",
        "Propose what to look at next, with its price, and say when to stop looking.",
        PROBE,
        _return_errors(act),
        labels=frozenset({"read"}),
    )


def _note(notes: NoteTool) -> Tool:
    """Return the tool note without creating: what is new comes in by `record` only."""
    properties = {**NOTE.arguments} | {"action": {"type": "string", "enum": list(NOTE_ACTIONS)}}
    for name in ("source", "query", "level"):
        del properties[name]
    return Tool(
        "note",
        "Read, update, delete or list notes by their id, and keep tasks: task makes one that may "
        "need others, progress says what became of it, tasks lists them. New notes: `record`.",
        object_schema("action", **properties),
        notes.tool.action,
        labels=frozenset({"read", "plan"}),
    )


def _read_record(given: dict[str, Any]) -> KnowledgeRecord:
    """Read a call; what the agent wrote down is marked so, whoever it says vouches for it."""
    return KnowledgeRecord(**given | {"tags": (*given.get("tags", ()), "agent")})


def _record_output(kept: RecordResult) -> ToolOutput:
    if kept.status == "not kept":
        where = f" Its place is {kept.source}." if kept.source else ""
        return ToolOutput(f"Not kept: the files say it themselves; look again.{where}")
    message = f"{kept.status.capitalize()} in {kept.layer}: {kept.id}."
    if kept.source:
        message += f" Source: {kept.source}."
    if kept.others:
        others = ", ".join(kept.others[:5])
        message += f" Other notes about this place: {others}; check that they agree."
    return ToolOutput(message, data={"status": kept.status, "layer": kept.layer, "id": kept.id})


def _look_up_output(known: CodebaseKnowledge, given: dict[str, Any]) -> ToolOutput:
    rows = known.look_up(given.get("query", ""), given.get("types", ()), given["limit"])
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    message = "\n".join(lines) or "Nothing is recorded about that."
    return ToolOutput(message, data={"result": rows})


def _return_errors(act: Action) -> Action:
    """Return an action that tells what was wrong with a call instead of raising it."""

    def act_or_report(given: dict[str, Any]) -> ToolOutput:
        try:
            return act(given)
        except InputError as error:
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, str(error))
        except FoldlineError as error:
            return ToolOutput.error(ErrorCode.UNAVAILABLE, str(error))

    return act_or_report
