"""``foldline maintain``: explore, analyze and plan for a codebase, over days."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from foldline.cli import options
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, one_line, write_json, write_text
from foldline.errors import FoldlineError, InputError, StoreError

if TYPE_CHECKING:
    from foldline.agents import Event
    from foldline.agents.maintainer import CodebaseMaintainer, Mode
    from foldline.agents.maintainer.questions import MaintainerAnswer

EPILOG = """\b
Examples:
  foldline maintain . --mode analyze
  foldline maintain shop "Where are orders priced?" --model anthropic:claude-sonnet-4-5
  foldline maintain shop --model openai:gpt-5-mini          (a conversation)
  foldline maintain shop --resume --model openai:gpt-5-mini
  foldline maintain shop --mode analyze --page report.html

\b
Without --model the report has counts only, and lists what a model would add. Results are kept in a
separate folder outside the codebase; --home names another. Nothing in PATH is changed.
"""

QUESTIONS = {
    "auto": "Where does this codebase stand?",
    "explore": "Explore the code structure of the whole codebase.",
    "analyze": "Analyze the quality of the code.",
    "plan": "Plan the next steps by what is known so far.",
}
"""The default question of each mode."""


@click.command("maintain", epilog=EPILOG)
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("question", required=False)
@options.choice("--mode", ("auto", "explore", "analyze", "plan"))
@click.option(
    "--model",
    metavar="NAME",
    envvar="MAINTAIN_MODEL",
    help="The model, such as anthropic:claude-sonnet-4-5 (or MAINTAIN_MODEL).",
)
@options.number("--window", IntegerType(1_000), None, "Window of an unknown model.")
@options.max_usd("Maximum US dollars per question.", min_open=True)
@click.option("--resume", is_flag=True, help="Resume a question that was interrupted.")
@click.option("--project", metavar="NAME", help="Project name (default: that of the folder).")
@click.option("--home", metavar="DIR", type=options.FOLDER, help="Folder for results.")
@click.option(
    "--notes", metavar="DIR", type=options.FOLDER, help="Folder of the notes, if elsewhere."
)
@click.option(
    "--page", metavar="FILE", type=options.FILE, help="Also write the report as an HTML page."
)
@options.output
def command(path: Path, question: str | None, output: Output, **rest: Any) -> None:
    """
    Maintain the codebase in PATH: answer a QUESTION, or hold a conversation.

    The answer, or one object with --json, goes to stdout; progress goes to stderr.
    """
    page, resume, mode = (rest.pop(name) for name in ("page", "resume", "mode"))
    if resume and not rest["model"]:
        raise click.UsageError("--resume needs a --model.")
    if question is not None and not rest["model"]:
        output.note("Answering a question needs a --model. This report has only counts.")
    talks = bool(rest["model"]) and question is None and not page and sys.stdin.isatty()
    with _open(path, rest) as one:
        if resume:
            output.warn(one.check().lines())
        if talks and not output.json:
            talk(one, output, mode, resume=resume)
            return
        query = None if resume else question or QUESTIONS[mode]
        _show(one, answer(one, output, query, mode), output, page)


def _open(path: Path, given: dict[str, Any]) -> CodebaseMaintainer:
    """
    Open the maintainer; on a terminal, approvals are requested there.

    Raises:
        StoreError: Its folder cannot be created.
    """
    from foldline.agents import AgentLimits
    from foldline.agents.maintainer import CodebaseMaintainer
    from foldline.agents.maintainer.folder import MaintainerFolder
    from foldline.tools.approvals import Approvals, TerminalPrompt

    codebase = path.resolve()
    project = given["project"] or codebase.name or "project"
    try:
        place = MaintainerFolder.of(project, codebase, given["home"], given["notes"])
    except StoreError as error:
        raise StoreError(error.message, hint="Name another folder with --home.") from error
    asks = Approvals(TerminalPrompt(), audit=place.approvals) if sys.stdin.isatty() else None
    return CodebaseMaintainer(
        project,
        codebase,
        given["model"],
        home=place.folder,
        notes=place.notes,
        window=given["window"],
        limits=AgentLimits(usd=given["usd"]),
        approvals=asks,
    )


def _show(one: CodebaseMaintainer, found: Any, output: Output, page: Path | None) -> None:
    from foldline.agents.maintainer.reports import report_page as drawn

    report = one.generate_report(save_to_file=False) if page or output.json else {}
    if page is not None:
        try:
            page.write_text(drawn(report, one.survey()), encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{page} cannot be written: {error.strerror}") from error
        output.note(f"The page is {page}.")
    if output.json:
        write_json("maintain/1", {"answer": found.to_dict(), "report": report})
    else:
        write_text(str(found))


HELP: Final = """\
/mode NAME   auto, explore, analyze or plan      /notes    list what is recorded
/check       list what is no longer true         /report   write a report
/resume      continue an interrupted answer      /quit     leave (or Ctrl-D)
Ctrl-C interrupts an answer; nothing is lost."""

LONGEST_HISTORY: Final = 1_000


def answer(
    one: CodebaseMaintainer, output: Output, question: str | None, mode: Mode
) -> MaintainerAnswer:
    """Answer one question, or resume one, and report progress on stderr."""
    if question is not None and one.opened is None:
        with output.working("Counting", long=True):
            return one.run(question, mode)
    return one.collect_answer(_report_events(one.stream(question, mode), output), mode)


def _report_events(events: Iterator[Event], output: Output) -> Iterator[Event]:
    from foldline.agents import ContextCompacted, ModelRetried, RunResumed, ToolCalled

    for event in events:
        match event:
            case ToolCalled(call):
                output.note(f"  {call.name} {one_line(call.arguments, 100)}")
            case ContextCompacted(done):
                output.note(f"  compacted: {done.tokens_before:,} → {done.tokens_after:,} tokens")
            case ModelRetried(reason=reason):
                output.note(f"  retry: {one_line(reason, 100)}")
            case RunResumed(changes=changes):
                output.note(f"  resumed; changed meanwhile: {changes}")
        yield event


def talk(one: CodebaseMaintainer, output: Output, mode: Mode, *, resume: bool) -> None:
    """Hold a conversation until the user leaves."""
    talking = MaintainerPrompt(one, output, mode)
    output.note(f"{one.project_name} in {one.root.path}. Ask, or type /help.")
    with _history(one):
        if resume:
            talking.ask(None)
        while True:
            try:
                line = input(f"{talking.mode}> ").strip()
            except EOFError:
                output.note("")
                return
            except KeyboardInterrupt:
                output.note("")
                continue
            if line in ("/quit", "/exit"):
                return
            if line:
                talking.take(line)


class MaintainerPrompt:
    """The commands and questions of a conversation."""

    def __init__(self, one: CodebaseMaintainer, output: Output, mode: Mode) -> None:
        self.mode = mode
        self._one = one
        self._output = output
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: write_text(HELP),
            "/mode": self._change_mode,
            "/notes": self._notes,
            "/check": lambda _: write_text("\n".join(one.check().lines()) or "All still true."),
            "/report": lambda _: write_text(one.generate_report()["report_page"]),
            "/resume": lambda _: self.ask(None),
        }

    def take(self, line: str) -> None:
        """Run a line; errors are reported, and the conversation continues."""
        word, _, rest = line.partition(" ")
        try:
            if not line.startswith("/"):
                self.ask(line)
            elif word in self._commands:
                self._commands[word](rest.strip())
            else:
                write_text(f"There is no command {word[:40]}.\n{HELP}")
        except FoldlineError as error:
            write_text(f"{error}")

    def ask(self, question: str | None) -> None:
        """Answer a question, or resume if ``question`` is None; Ctrl-C interrupts."""
        try:
            found = answer(self._one, self._output, question, self.mode)
        except KeyboardInterrupt:
            self._output.note("\nInterrupted; /resume continues.")
            return
        except FoldlineError as error:
            write_text(f"{error}\n/resume continues.")
            return
        write_text(str(found))
        if found.status != "done" and found.result is not None:
            self._output.note(f"Ended early: {found.result.note}.")

    def _change_mode(self, name: str) -> None:
        from foldline.agents.maintainer.questions import MODES

        found = next((mode for mode in MODES if mode == name), None)
        if found is None:
            write_text(f"The modes are {', '.join(MODES)}.")
        else:
            self.mode = found

    def _notes(self, query: str) -> None:
        rows = self._one.knowledge.look_up(query, limit=30)
        write_text("\n".join(map(_line, rows)) or "Nothing is recorded yet.")


def _line(row: dict[str, Any]) -> str:
    """Return a note or a memory on one line; a star marks one that needs review."""
    stale = " *" if "attention" in row else ""
    title = one_line(row.get("title") or row["content"], 70)
    number = row.get("note_id") or row["memory_id"]
    return f"{row.get('type', 'memory'):11} {number}  {title}{stale}"


@contextlib.contextmanager
def _history(one: CodebaseMaintainer) -> Iterator[None]:
    """Enable line editing with a history, if this system has it."""
    try:
        import readline
    except ImportError:  # pragma: no cover  # not on every system
        yield
        return
    path = str(one.place.history)
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(LONGEST_HISTORY)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            readline.write_history_file(path)
