"""The codebase maintainer as its users see it: ask, record, look back, report."""

from __future__ import annotations

import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, Self

from foldline.agents.agent import Agent, checkpoint_file
from foldline.agents.limits import AgentLimits, AgentResult
from foldline.agents.maintainer import questions, reports
from foldline.agents.maintainer.conflicts import RecordConflict, StateCheck, check_state
from foldline.agents.maintainer.exploration import (
    ExplorationBudget,
    ExplorationWatch,
    Trail,
    probe_tool,
    trail_from,
)
from foldline.agents.maintainer.folder import MaintainerFolder
from foldline.agents.maintainer.knowledge import (
    CodebaseKnowledge,
    KnowledgeRecord,
    RecordResult,
    knowledge_tools,
)
from foldline.agents.maintainer.questions import MODES, SYSTEM, MaintainerAnswer, Mode
from foldline.agents.maintainer.survey import CodebaseSurvey, SurveySettings, survey_codebase
from foldline.agents.run_state import ChatModel, Event, RunFinished
from foldline.context import ContextBuilder, ContextConfig
from foldline.core.validation import check_name
from foldline.errors import InputError
from foldline.frozen import replace
from foldline.notes.note import Kind
from foldline.rooted_files import Root
from foldline.tools.approvals import Approvals
from foldline.tools.memory import MemoryTool
from foldline.tools.notes import NoteTool
from foldline.tools.spec import Tool
from foldline.tools.terminal.tool import TerminalTool
from foldline.tools.workspace import Workspace, file_tools

CONVERSATION: Final = "maintenance"
"""The name of the session that all days share."""

CONTEXT: Final = ContextConfig(max_tokens=4_000, reserve_ratio=0.15, min_relevance=0.2)

STALE: Final = 600.0
"""Seconds after which the codebase is counted again."""

SHARE: Final = 6
"""What a question is asked with takes at most this part of a window that was given: a sixth."""

_NOTE_ID: Final = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


class CodebaseMaintainer:
    """
    An agent that explores, analyzes and plans for one codebase, over days and processes.

    It only reads the codebase. What it knows lies in a folder of its own; all days share one
    conversation, which is compacted as it grows.

    Args:
        project_name: The name of the project.
        codebase_path: Its folder.
        llm: Who answers, as `foldline.models.model` makes one, or its name. Without one, `run`
            says what can be said without a model.
        home: Where what is known is kept; default a folder for this codebase in the data folder
            of the user, or in FOLDLINE_HOME.
        notes: Where the notes are, if elsewhere, such as a folder that git keeps.
        window: Of the model, in tokens, where the catalogue of models does not know it.
        context: How the context of a question is built.
        limits: The most that a question may spend.
        budget: How long to explore before concluding.
        looks: How much the survey looks at.
        approvals: Who is asked for commands that do more than read; default nobody.
        max_tokens: The cap of one answer.

    Raises:
        StoreError: There is no such codebase, or what is known cannot be kept.
        InputError: The name is empty, or the home lies in the codebase.
    """

    def __init__(
        self,
        project_name: str,
        codebase_path: str | os.PathLike[str],
        llm: ChatModel | str | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        notes: str | os.PathLike[str] | None = None,
        window: int | None = None,
        context: ContextConfig = CONTEXT,
        limits: AgentLimits | None = None,
        budget: ExplorationBudget | None = None,
        looks: SurveySettings | None = None,
        approvals: Approvals | None = None,
        max_tokens: int | None = None,
    ) -> None:
        if not project_name.strip():
            raise InputError("the project has no name", field="project_name")
        self.project_name = project_name
        self.root = Root(codebase_path)
        self.place = MaintainerFolder.of(project_name, self.root.path, home, notes)
        self.started = datetime.now(UTC)
        stamp = self.started.strftime("%Y%m%d_%H%M%S")
        self.session_id = f"session_{stamp}_{secrets.token_hex(3)}"
        self.memory_tool = MemoryTool(user_id=project_name, path=self.place.memory)
        self.note_tool = NoteTool(workspace=self.place.notes)
        self.terminal_tool = TerminalTool(self.root.path, timeout=60, approvals=approvals)
        self.knowledge = CodebaseKnowledge(
            self.root,
            self.note_tool.notes,
            self.memory_tool.memory,
            project_name,
            self.session_id,
        )
        if window is not None:
            context = replace(context, max_tokens=min(context.max_tokens, window // SHARE))
        known = [lambda query: self.knowledge.packets(query)]
        self.context_builder = ContextBuilder(config=context, sources=known)
        self.watch = ExplorationWatch(budget or ExplorationBudget())
        self._window, self._max_tokens, self._limits = window, max_tokens, limits
        self._looks = looks or SurveySettings()
        self._model, self._owns = _open_model(llm)
        self._agent: Agent | None = None
        self._survey: CodebaseSurvey | None = None
        self._surveyed = time.monotonic()

    # --- asking ----------------------------------------------------------------------------

    def run(self, user_input: str, mode: Mode = "auto") -> MaintainerAnswer:
        """
        Answer a question.

        Args:
            user_input: What is asked, in any language.
            mode: "auto", "explore", "analyze" or "plan".

        Returns:
            The answer, a text that also knows its status and what it cost.

        Raises:
            ModelError: The model gives no answer; `resume` goes on from there.
            InputError: The question is empty.
        """
        check_name("mode", mode, MODES)
        if not user_input.strip():
            raise InputError("there is no question", field="user_input")
        if self._model is None:
            text = questions.answer_without_model(mode, self.survey(), self.knowledge, user_input)
            return self._answer(text, mode, None)
        return self.collect_answer(self.stream(user_input, mode), mode)

    def explore(self, target: str = ".") -> MaintainerAnswer:
        """Find out how the codebase, or a part of it, is built."""
        part = "the whole codebase" if target in ("", ".") else target
        return self.run(f"Explore the code structure of {part}.", "explore")

    def analyze(self, focus: str = "") -> MaintainerAnswer:
        """Look for what is wrong with the code, above all in ``focus``."""
        above = f", above all {focus}" if focus else ""
        return self.run(f"Analyze the quality of the code{above}.", "analyze")

    def plan_next_steps(self) -> MaintainerAnswer:
        """Plan what is to be done, by what is known from all days."""
        return self.run("Plan the next steps by what is known so far.", "plan")

    def resume(self) -> MaintainerAnswer:
        """
        Go on with a question that was broken off, in whichever way.

        Raises:
            InputError: There is nothing to go on with, or no model.
        """
        return self.collect_answer(self.stream(None), "auto")

    def stream(self, user_input: str | None, mode: Mode = "auto") -> Iterator[Event]:
        """
        Yield what happens while a question is answered; see `foldline.agents.run_state`.

        Args:
            user_input: What is asked; None goes on with a question that was broken off.
            mode: As in `run`.
        """
        agent = self.agent
        if user_input is None:
            self.watch.trail = trail_from(agent.session.messages)
            return agent.stream(None)
        self.watch.question = user_input
        self.watch.trail = Trail()
        # The question stands first as well: a message that has to be cut keeps its beginning.
        return agent.stream(f"{user_input}\n\n{self.context(user_input, mode)}")

    def context(self, user_input: str, mode: Mode = "auto") -> Any:
        """Build what a question is asked with; see `foldline.context.ContextBuilder.build`."""
        custom = questions.question_packets(
            mode, self.survey(), self.knowledge, self.watch.trail, self.watch.budget, user_input
        )
        instructions = questions.PROMPTS["modes"][mode]["task"]
        return self.context_builder.build(
            user_input, system_instructions=instructions, custom_packets=custom
        )

    @property
    def agent(self) -> Agent:
        """
        The agent that answers, with its session.

        Raises:
            InputError: There is no model.
        """
        if self._agent is None:
            system = SYSTEM.format(project=self.project_name)
            self._agent = self.open_agent(CONVERSATION, self._tools(), system, self._limits)
        return self._agent

    @property
    def opened(self) -> Agent | None:
        """The agent, None where there is no model."""
        return None if self._model is None else self.agent

    def open_agent(
        self, name: str, tools: Iterable[Tool], system: str, limits: AgentLimits | None
    ) -> Agent:
        """Open an agent with a conversation of its own, beside the one of all days."""
        if self._model is None:
            raise InputError("there is no model", hint="Give one as llm, or --model.", field="llm")
        return Agent.open(
            self.place.sessions,
            name,
            self._model,
            tools,
            window=self._window,
            system=system,
            limits=limits,
            root=self.root.path,
            max_tokens=self._max_tokens,
        )

    def _tools(self) -> Iterable[Tool]:
        workspace = Workspace(self.root.path, is_in_view=self._is_in_view)
        looking = (self.terminal_tool.tool, file_tools(workspace)[0])
        yield from map(self.watch.watch, looking)
        yield from knowledge_tools(self.knowledge, self.note_tool)
        yield probe_tool(self.survey, self.watch)

    def _is_in_view(self, path: str) -> bool:
        return self._agent is not None and self._agent.session.is_in_view(path)

    def collect_answer(self, events: Iterable[Event], mode: Mode) -> MaintainerAnswer:
        """Run what `stream` returned to its end, and return the answer."""
        ends = [event.result for event in events if isinstance(event, RunFinished)]
        result = ends[-1] if ends else None
        return self._answer("" if result is None else result.text or result.note, mode, result)

    def _answer(self, text: str, mode: Mode, result: AgentResult | None) -> MaintainerAnswer:
        known = {note.id for note in self.knowledge.all_notes()}
        named = tuple(one for one in dict.fromkeys(_NOTE_ID.findall(text)) if one in known)
        return MaintainerAnswer(text, mode, result, named)

    # --- looking and recording -------------------------------------------------------------

    def survey(self, *, again: bool = False) -> CodebaseSurvey:
        """Count what can be counted without a model; anew after ten minutes, or if ``again``."""
        old = time.monotonic() - self._surveyed > STALE
        if self._survey is None or again or old:
            self._survey = survey_codebase(self.root.path, self._looks)
            self._surveyed = time.monotonic()
        return self._survey

    def execute_command(self, command: str) -> str:
        """Run a command line in the codebase, and return what it says; see `TerminalTool`."""
        self.watch.commands += 1
        return self.terminal_tool.run({"command": command})

    def create_note(
        self,
        title: str,
        content: str,
        note_type: Kind = "general",
        tags: Iterable[str] | None = None,
        *,
        source: str = "",
    ) -> str:
        """
        Write a note as a person's word, and return its id.

        Args:
            title: What it is, in one line; a note of the same title and type is updated.
            content: Markdown.
            note_type: "task_state", "conclusion", "blocker", "action", "reference" or "general".
            tags: Words to find it by.
            source: A place in the codebase, such as ``app/user.py:10-20``.

        Raises:
            InputError: Something of it makes no sense.
        """
        named = tuple(tags or ())
        piece = KnowledgeRecord(title, content, "person", "lasting", note_type, source, named)
        return self.keep(piece).id

    def keep(self, piece: KnowledgeRecord) -> RecordResult:
        """Bring a piece of information to where it lives; see `route`."""
        return self.knowledge.keep(piece)

    def conflicts(self) -> tuple[RecordConflict, ...]:
        """Return where notes, memory and codebase contradict each other."""
        return self.knowledge.conflicts()

    def check(self) -> StateCheck:
        """Compare what is known with the world as it is now, before going on."""
        session = None if self.opened is None else self.opened.session
        checkpoint = checkpoint_file(self.place.sessions, CONVERSATION)
        return check_state(self.root, self.conflicts(), session, checkpoint)

    # --- telling ---------------------------------------------------------------------------

    def get_stats(self) -> dict[str, Any]:
        """Return what was done, what it cost, and what is known, as JSON values."""
        return reports.build_stats(self)

    def generate_report(self, save_to_file: bool = True) -> dict[str, Any]:
        """
        Report on this session, as JSON values and as a page for people.

        Args:
            save_to_file: Whether both are written; ``report_file`` and ``report_page`` then say
                where.

        Raises:
            StoreError: They cannot be written.
        """
        report = reports.build_report(self)
        return reports.save_report(self, report) if save_to_file else report

    @property
    def stats(self) -> dict[str, Any]:
        """The activity of this process."""
        return dict(self.get_stats()["activity"])

    def close(self) -> None:
        """Close everything; the model is the caller's unless it was named."""
        if self._agent is not None:
            self._agent.close()
        if self._owns and self._model is not None:
            self._model.close()  # type: ignore[attr-defined]  # a client of our own
        self.memory_tool.memory.close()
        self.note_tool.notes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_model(llm: ChatModel | str | None) -> tuple[ChatModel | None, bool]:
    """Return who answers, and whether it was opened here."""
    if isinstance(llm, str):
        from foldline.models import model

        return model(llm), True
    if llm is not None and not hasattr(llm, "astream"):
        hint = 'Give foldline.models.model("…"), or the name of one.'
        raise InputError(f"a {type(llm).__name__} is no model", field="llm", hint=hint)
    return llm, False
