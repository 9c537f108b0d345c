"""``foldline context lint``: what makes a system prompt brittle or empty."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from foldline.cli import options
from foldline.cli.context_material import read_text
from foldline.cli.output import counted, one_line, write_json, write_text


@click.command("lint", short_help="Look for what makes a system prompt brittle or empty.")
@click.argument("file", metavar="FILE")
@click.option("--strict", is_flag=True, help="Exit with 3 if there is a warning.")
@options.voice
def lint(file: str, strict: bool, **rest: Any) -> int:
    """
    Look for programs in prose, empty wishes, rules said twice, and contradictions.

    FILE is a system prompt in English or Chinese; "-" is stdin.
    """
    from foldline.context.prompt_lint import lint as look

    voice = options.voiced(rest)
    problems = look(read_text(file))
    warnings = sum(problem.severity == "warning" for problem in problems)
    if voice.json:
        write_json("lint/1", {"file": file, "problems": [asdict(p) for p in problems]})
    for problem in () if voice.json else problems:
        other = f" (and line {problem.other})" if problem.other else ""
        write_text(
            f"{file}:{problem.line}: {problem.severity}: {problem.rule}{other}: "
            f"{one_line(problem.quote, 120)}\n    {problem.why}\n    {problem.instead}"
        )
    told = f"{counted(warnings, 'warning')}, {counted(len(problems) - warnings, 'hint')}."
    voice.note(told if problems else "Nothing to say against it.")
    return 3 if strict and warnings else 0
