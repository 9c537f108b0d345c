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
    CodebaseKnowledge,
    KnowledgeRecord,
    RecordResult,
)
from foldline.agents.maintainer.survey import CodebaseSurvey
from foldline.errors import FoldlineError, InputError
from foldline.tools.description import describe_tool
from foldline.tools.notes import NOTE, NoteTool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Action, Tool

AGENTS: Final = "foldline.agents"


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

    def record(given: dict[str, Any]) -> ToolOutput:
        return _record_output(known.keep(_read_record(given)))

    def look_up(given: dict[str, Any]) -> ToolOutput:
        return _look_up_output(known, given)

    shown = {name: one for name, one in NOTE.arguments.items() if name not in ("source", "level")}
    note = replace(describe_tool("note", AGENTS), arguments=shown, actions=NOTE.actions)
    return [
        describe_tool("record", AGENTS).tool(_return_errors(record)),
        describe_tool("look_up", AGENTS).tool(_return_errors(look_up)),
        note.tool(notes.tool.action),
    ]


def probe_tool(survey: Callable[[], CodebaseSurvey], watch: ExplorationWatch) -> Tool:
    """Return the tool next_probe."""

    def act(given: dict[str, Any]) -> ToolOutput:
        question = given.get("question") or watch.question
        return ToolOutput(describe_exploration(survey(), watch.trail, watch.budget, question))

    return describe_tool("next_probe", AGENTS).tool(_return_errors(act))


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
