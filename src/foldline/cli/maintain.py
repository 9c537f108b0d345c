"""``foldline maintain``: explore, analyze and plan for a codebase, over days."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foldline.cli import options
from foldline.cli.numbers import Number, Whole
from foldline.cli.output import Voice, write_json, write_text
from foldline.errors import InputError

if TYPE_CHECKING:
    from foldline.agents.maintainer import CodebaseMaintainer

EPILOG = """\b
Examples:
  foldline maintain . --mode analyze
  foldline maintain shop "Where are orders priced?" --model anthropic:claude-sonnet-4-5
  foldline maintain shop --model openai:gpt-5-mini          (a conversation)
  foldline maintain shop --resume --model openai:gpt-5-mini
  foldline maintain shop --mode analyze --page report.html

\b
Without --model the report is counted, and says what a model would add. What is known lies in a
folder of its own, outside of the codebase; --home names another. Nothing in PATH is changed.
"""

QUESTIONS = {
    "auto": "Where does this codebase stand?",
    "explore": "Explore the code structure of the whole codebase.",
    "analyze": "Analyze the quality of the code.",
    "plan": "Plan the next steps by what is known so far.",
}
"""What is asked where nobody says what."""


@click.command("maintain", epilog=EPILOG, short_help="Explore, analyze and plan for a codebase.")
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("question", required=False)
@click.option(
    "--mode",
    type=click.Choice(["auto", "explore", "analyze", "plan"]),
    default="auto",
    show_default=True,
)
@click.option(
    "--model",
    metavar="NAME",
    envvar="MAINTAIN_MODEL",
    help="Who answers, such as anthropic:claude-sonnet-4-5 (or MAINTAIN_MODEL).",
)
@click.option("--window", metavar="N", type=Whole(1_000), help="Of an unknown model.")
@click.option(
    "--max-usd",
    "usd",
    metavar="N",
    type=Number(0, min_open=True),
    help="Pay the model no more for a question.",
)
@click.option("--resume", is_flag=True, help="Go on with a question that was broken off.")
@click.option("--project", metavar="NAME", help="Its name (default: that of the folder).")
@click.option(
    "--home",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where what is known is kept.",
)
@click.option(
    "--notes",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the notes are, if elsewhere.",
)
@click.option(
    "--page",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the report as a page of HTML, too.",
)
@options.voice
def command(path: Path, question: str | None, **rest: Any) -> None:
    """
    Maintain the codebase in PATH: answer a QUESTION, or hold a conversation.

    The answer, or with --json one object, goes to stdout; what is done for it to stderr.
    """
    from foldline.cli.maintain_talking import answer, talk

    voice, page, resume, mode = (
        options.voiced(rest),
        rest.pop("page"),
        rest.pop("resume"),
        rest.pop("mode"),
    )
    if resume and not rest["model"]:
        raise click.UsageError("--resume needs the --model that goes on.")
    if question is not None and not rest["model"]:
        voice.note(
            "Nobody answers the question: it needs a --model. This is what can be counted without."
        )
    talks = bool(rest["model"]) and question is None and not page and sys.stdin.isatty()
    with ExitStack() as stack:
        one = stack.enter_context(_opened(path, rest))
        if resume:
            voice.warn(one.check().lines())
        if talks and not voice.json:
            talk(one, voice, mode, resume=resume)
            return
        asked = None if resume else question or QUESTIONS[mode]
        _show(one, answer(one, voice, asked, mode), voice, page)


def _opened(path: Path, given: dict[str, Any]) -> CodebaseMaintainer:
    """Open the maintainer; whoever sits at the terminal is asked for approvals."""
    from foldline.agents import AgentLimits
    from foldline.agents.maintainer import CodebaseMaintainer
    from foldline.agents.maintainer.place import Place
    from foldline.tools.approvals import Approvals, TerminalPrompt

    codebase = path.resolve()
    project = given["project"] or codebase.name or "project"
    place = Place.of(project, codebase, given["home"], given["notes"])
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


def _show(one: CodebaseMaintainer, said: Any, voice: Voice, page: Path | None) -> None:
    from foldline.agents.maintainer.page import page as drawn

    report = one.generate_report(save_to_file=False) if page or voice.json else {}
    if page is not None:
        try:
            page.write_text(drawn(report, one.survey()), encoding="utf-8", errors="replace")
        except OSError as error:
            raise InputError(f"{page} cannot be written: {error.strerror}") from error
        voice.note(f"The page is {page}.")
    if voice.json:
        write_json("maintain/1", {"answer": said.to_dict(), "report": report})
    else:
        write_text(str(said))
