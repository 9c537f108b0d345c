"""The public codebase maintainer: ask, record, search, report."""

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
"""The age in seconds after which the survey is repeated."""

SHARE: Final = 6
"""The context of a question takes at most 1/SHARE of an explicitly given window."""

_NOTE_ID: Final = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")


class CodebaseMaintainer:
    """
    An agent that explores, analyzes and plans for one codebase, across days and processes.

    It only reads the codebase. Its knowledge is stored in a separate folder; all days share one
    conversation, which is compacted as it grows.

    Args:
        project_name: The name of the project.
        codebase_path: The folder of the codebase.
        llm: The model that answers, see `foldline.models.model`, or its name. Without one, `run`
            returns what can be found without a model.
        home: The data folder; default a folder for this codebase in the data folder of the user,
            or in FOLDLINE_HOME.
        notes: The folder of the notes, if elsewhere, such as a folder under git.
        window: The context window in tokens, for a model that is not in the catalogue.
        context: Settings of the context of a question.
        limits: Limits on the spending of one question.
        budget: Limits of an exploration.
        looks: Limits of the survey.
        approvals: Approves commands that do more than read; without it they are refused.
        max_tokens: The maximum length of one answer.

    Raises:
        StoreError: The codebase does not exist, or its knowledge cannot be stored.
        InputError: The name is empty, or the home is inside the codebase.
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
            user_input: The question, in any language.
            mode: "auto", "explore", "analyze" or "plan".

        Returns:
            The answer, a string with its status and cost as attributes.

        Raises:
            ModelError: The model gives no answer; `resume` continues from there.
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
        """Explore the structure of the codebase, or of a part of it."""
        part = "the whole codebase" if target in ("", ".") else target
        return self.run(f"Explore the code structure of {part}.", "explore")

    def analyze(self, focus: str = "") -> MaintainerAnswer:
        """Analyze the quality of the code, above all of ``focus``."""
        above = f", above all {focus}" if focus else ""
        return self.run(f"Analyze the quality of the code{above}.", "analyze")

    def plan_next_steps(self) -> MaintainerAnswer:
        """Plan the next steps from the knowledge of all days."""
        return self.run("Plan the next steps by what is known so far.", "plan")

    def resume(self) -> MaintainerAnswer:
        """
        Resume a question that was interrupted, however that happened.

        Raises:
            InputError: There is nothing to resume, or no model.
        """
        return self.collect_answer(self.stream(None), "auto")

    def stream(self, user_input: str | None, mode: Mode = "auto") -> Iterator[Event]:
        """
        Yield the events of answering a question; see `foldline.agents.run_state`.

        Args:
            user_input: The question; None resumes a question that was interrupted.
            mode: As in `run`.
        """
        agent = self.agent
        if user_input is None:
            self.watch.trail = trail_from(agent.session.messages)
            return agent.stream(None)
        self.watch.question = user_input
        self.watch.trail = Trail()
        # The question also comes first: a message that has to be cut keeps its beginning.
        return agent.stream(f"{user_input}\n\n{self.context(user_input, mode)}")

    def context(self, user_input: str, mode: Mode = "auto") -> Any:
        """Build the context of a question; see `foldline.context.ContextBuilder.build`."""
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
        """The agent, None without a model."""
        return None if self._model is None else self.agent

    def open_agent(
        self, name: str, tools: Iterable[Tool], system: str, limits: AgentLimits | None
    ) -> Agent:
        """Open an agent with a separate conversation, beside the one of all days."""
        if self._model is None:
            raise InputError("there is no model", hint="Pass one as llm, or --model.", field="llm")
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
        """Survey the codebase without a model; repeated after ten minutes, or if ``again``."""
        old = time.monotonic() - self._surveyed > STALE
        if self._survey is None or again or old:
            self._survey = survey_codebase(self.root.path, self._looks)
            self._surveyed = time.monotonic()
        return self._survey

    def execute_command(self, command: str) -> str:
        """Run a command line in the codebase, and return its output; see `TerminalTool`."""
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
        Write a note with the authority of a person, and return its id.

        Args:
            title: The subject, in one line; a note of the same title and type is updated.
            content: Markdown.
            note_type: "task_state", "conclusion", "blocker", "action", "reference" or "general".
            tags: Keywords for searching.
            source: A pointer into the codebase, such as ``app/user.py:10-20``.

        Raises:
            InputError: An argument is invalid.
        """
        named = tuple(tags or ())
        piece = KnowledgeRecord(title, content, "person", "lasting", note_type, source, named)
        return self.keep(piece).id

    def keep(self, piece: KnowledgeRecord) -> RecordResult:
        """Store a fact in its layer; see `route`."""
        return self.knowledge.keep(piece)

    def conflicts(self) -> tuple[RecordConflict, ...]:
        """Return the contradictions between notes, memory and codebase."""
        return self.knowledge.conflicts()

    def check(self) -> StateCheck:
        """Compare the recorded state with the current one, before continuing."""
        session = None if self.opened is None else self.opened.session
        checkpoint = checkpoint_file(self.place.sessions, CONVERSATION)
        return check_state(self.root, self.conflicts(), session, checkpoint)

    # --- reporting -------------------------------------------------------------------------

    def get_stats(self) -> dict[str, Any]:
        """Return the activity, its cost and the knowledge, as JSON values."""
        return reports.build_stats(self)

    def generate_report(self, save_to_file: bool = True) -> dict[str, Any]:
        """
        Report on this session, as JSON values and as an HTML page.

        Args:
            save_to_file: Write both; ``report_file`` and ``report_page`` then name the files.

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
        """Close everything; a model passed as an object stays open."""
        if self._agent is not None:
            self._agent.close()
        if self._owns and self._model is not None:
            self._model.close()  # type: ignore[attr-defined]  # a client opened here
        self.memory_tool.memory.close()
        self.note_tool.notes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _open_model(llm: ChatModel | str | None) -> tuple[ChatModel | None, bool]:
    """Return the model, and whether it was opened here."""
    if isinstance(llm, str):
        from foldline.models import model

        return model(llm), True
    if llm is not None and not hasattr(llm, "astream"):
        hint = 'Pass foldline.models.model("…"), or the name of one.'
        raise InputError(f"a {type(llm).__name__} is not a model", field="llm", hint=hint)
    return llm, False
