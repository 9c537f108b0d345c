"""``foldline context``: build a context, lint a prompt, compare two configurations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from foldline.cli import options
from foldline.cli.errors import NamingGroup
from foldline.cli.options import IntegerType, PlaceType
from foldline.cli.output import Output, one_line
from foldline.cli.streams import decode_input, read_stdin
from foldline.context.builder import Context, ContextBuilder
from foldline.context.comparison import Case
from foldline.context.comparison import compare as compared
from foldline.context.settings import ContextConfig
from foldline.context.sources import ContextSource, files, source
from foldline.core.validation import check_name
from foldline.errors import InputError
from foldline.evaluation.figures import plural
from foldline.formats.files import read_bytes
from foldline.frozen import field, frozen

MOST_BYTES: Final = 2_000_000
"""Maximum size of a prompt or a list of queries, in bytes."""

_STORE: Final = PlaceType(path_type=Path, exists=True, dir_okay=False)

input_options = options.together(
    click.option("--notes", type=click.Path(path_type=Path, exists=True, file_okay=False),
                 metavar="DIR", help="A folder of notes."),
    click.option("--kb", type=_STORE, metavar="FILE|URL", help="A knowledge base."),
    click.option("--memory", type=_STORE, metavar="FILE|URL", help="A memory."),
    click.option("--user", metavar="NAME", default="default", help="Owner of memories (default)."),
    click.option("--file", "paths", multiple=True, metavar="PATH",
                 type=click.Path(path_type=Path, exists=True),
                 help="A text file, or a folder of them; may be given several times."),
    click.option("--history", metavar="FILE", help="A conversation in any format; - is stdin."),
    click.option("--system", metavar="FILE", help="Role and rules; - is stdin."),
    click.option("--budget", type=IntegerType(1), metavar="N",
                 help="Maximum tokens of the context (3000)."),
)  # fmt: skip
"""The options that name the sources of a context."""


INPUTS: Final = ("notes", "kb", "memory", "user", "paths", "history", "system")
"""Names of those options that name a place to search."""


@frozen
class ContextInputs:
    """The sources that a context is built from."""

    sources: tuple[ContextSource, ...]
    history: tuple[Any, ...] = field(repr=False)
    instructions: str | None = field(repr=False)


@contextmanager
def open_inputs(settings: dict[str, Any], output: Output) -> Iterator[ContextInputs]:
    """
    Open the sources that the options of `input_options` name, and close them afterwards.

    Args:
        settings: The options; those used are removed.
        output: Receives warnings about unreadable sources.
    """
    folder, kb, memory, user, paths, history, system = map(settings.pop, INPUTS)
    if history == system == "-":
        raise click.UsageError("Only one of --history and --system can be stdin.")
    with ExitStack() as stack:
        sources = list[ContextSource]()
        # Imported only when named: each of them loads a store.
        if folder is not None:
            from foldline.notes import Notes

            sources.append(source(stack.enter_context(Notes.open(folder)), "notes", "note"))
        if kb is not None:
            from foldline.memory.knowledge import Knowledge

            store = stack.enter_context(Knowledge.open(kb))
            sources.append(source(store, "knowledge", "knowledge"))
        if memory is not None:
            from foldline.memory import Memory

            kept = stack.enter_context(Memory.open(memory, user=user))
            sources.append(source(kept, "memory", "memory"))
        if paths:
            sources.append(files(paths))
        yield ContextInputs(
            tuple(sources),
            () if history is None else _conversation(history, output),
            None if system is None else read_text(system),
        )


def _conversation(file: str, output: Output) -> tuple[Any, ...]:
    from foldline.cli.reading import open_input

    opened = open_input(file, None, None, output)
    output.warn(opened.warnings)
    return tuple(opened.transcript.messages)


def read_text(file: str) -> str:
    """
    Read a text from a file or from stdin.

    Raises:
        InputError: It cannot be read, is too large, or is not text.
    """
    if file == "-":
        return decode_input(read_stdin(MOST_BYTES), "stdin")
    return decode_input(read_bytes(Path(file), MOST_BYTES), file)


def build_config(settings: dict[str, str], **fixed: Any) -> ContextConfig:
    """
    Return a configuration.

    Args:
        settings: Values by name, as text.
        **fixed: Parsed values; None leaves the default.

    Raises:
        BudgetError: There is no such setting, or the value is invalid.
    """
    default: Any = ContextConfig()
    values = {name: value for name, value in fixed.items() if value is not None}
    for name, text in settings.items():
        check_name("setting", name, [n for n in default.__slots__ if n != "section_budgets"])
        values[name] = _read(text, type(getattr(default, name)))
    return ContextConfig(**values)


def _read(text: str, kind: Any) -> Any:
    """Parse a value as the type of its default; keep text that does not parse for validation."""
    if kind is bool:
        return {"true": True, "false": False}.get(text.lower(), text)
    try:
        return kind(text)
    except ValueError:
        return text


BUILD_EPILOG = """\b
Examples:
  foldline context build --query "Why is the build red?" --notes notes --file src
  foldline context build --query "如何优化内存占用?" --history session.jsonl --lang zh --explain
  foldline context build --query "What is open?" --notes notes --json | jq .report.score
"""


@click.command("build", epilog=BUILD_EPILOG, short_help="Build the context for one query.")
@click.option("--query", required=True, metavar="TEXT", help="The question.")
@input_options
@click.option("--lang", type=click.Choice(("auto", "en", "zh")), help="Language of the headings.")
@click.option("--form", type=click.Choice(("brackets", "xml")), help="Notation of the sections.")
@click.option(
    "--order", type=click.Choice(("standard", "cache")), help="Order of the sections (standard)."
)
@click.option("--explain", is_flag=True, help="Report on stderr where each packet went, and why.")
@options.output
def build(
    query: str, budget: int | None, lang: str | None, explain: bool, output: Output, **rest: Any
) -> None:
    """
    Build the context for one query: gather, select, structure, compress, evaluate.

    The context goes to stdout, its metrics and advice to stderr.
    """
    form, order = rest.pop("form"), rest.pop("order")
    config = build_config({}, max_tokens=budget, language=lang, form=form, order=order)
    with open_inputs(rest, output) as given:
        builder = ContextBuilder(config=config, sources=given.sources)
        context = builder.build(query, given.history, given.instructions)
    output.result("context/1", _as_json(context), text=context.text)
    _report(context, explain, output)


def _as_json(context: Context) -> dict[str, Any]:
    return {
        "text": context.text,
        "messages": context.messages,
        "tokens": context.tokens,
        "packets": context.explain(),
        "sources": [
            {"name": s.name, "packets": s.packets, "error": s.error} for s in context.sources
        ],
        "report": context.report.to_dict(),
    }


def _report(context: Context, explain: bool, output: Output) -> None:
    report = context.report
    output.note(
        f"{context.tokens:,} of {report.max_tokens:,} tokens, {len(context.packets)} packets in, "
        f"{len(context.left_out)} left out; score {report.score:.2f} (relevance "
        f"{report.relevance.value:.2f}, completeness {report.completeness.value:.2f}, density "
        f"{report.density.value:.2f}, redundancy {report.redundancy.value:.2f})."
    )
    for sentence in report.advice:
        output.note(f"- {sentence}")
    for row in context.explain() if explain else ():
        place = row["section"] or "out"
        output.note(
            f"  {place:<8} {row['tokens']:>6,} of {row['whole']:>6,}  {row['relevance']:.2f}  "
            f"{row['method']:<8}  {row['packet']}: {row['why']}"
        )


COMPARE_EPILOG = """\b
FILE has one query per line: plain text, or JSON such as
  {"query": "Which port?", "facts": ["8443"]}
where facts are words that a good context contains; recall is measured over them.

\b
Examples:
  foldline context compare queries.txt --file docs --with min_relevance=0.3
  foldline context compare queries.jsonl --notes notes --base order=standard --with order=cache
"""


@click.command(
    "compare", epilog=COMPARE_EPILOG, short_help="Compare two configurations over queries."
)
@click.argument("file", metavar="FILE")
@input_options
@click.option("--base", multiple=True, metavar="KEY=VALUE", help="A setting of the first one.")
@click.option(
    "--with", "changed", multiple=True, required=True, metavar="KEY=VALUE",
    help="A setting of the second configuration, on top of those of the first.",
)  # fmt: skip
@options.output
def compare(
    file: str,
    budget: int | None,
    base: tuple[str, ...],
    changed: tuple[str, ...],
    output: Output,
    **rest: Any,
) -> None:
    """Build the context of every query with two configurations, and show the differences."""
    first = _pairs(base)
    second = {**first, **_pairs(changed)}
    configs = [build_config(pairs, max_tokens=budget) for pairs in (first, second)]
    text = read_text(file)
    with open_inputs(rest, output) as given:
        cases = _cases(text, given.history, given.instructions)
        one, other = (ContextBuilder(config=config, sources=given.sources) for config in configs)
        names = (" ".join(base) or "as it is", " ".join(changed))
        with output.working("Building", long=len(cases) > 20):
            result = compared(cases, one, other, names)
    rows = [{**asdict(row), "verdict": row.verdict} for row in result.rows]
    value = {"cases": result.cases, "names": names, "rows": rows}
    output.result("comparison/1", value, text=result.table())
    if any(result.failed):
        output.note(f"Not built because mandatory content does not fit: {result.failed}.")


def _pairs(settings: Iterable[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, _ in pairs:
        if not equals:
            raise click.UsageError(f"{name!r} is not a setting; write KEY=VALUE.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _cases(text: str, history: tuple[Any, ...], instructions: str | None) -> list[Case]:
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        query, facts = line.strip(), list[Any]()
        if not query:
            continue
        if query.startswith("{"):
            try:
                value = json.loads(query)
                query, facts = value["query"], value.get("facts", [])
            except (ValueError, KeyError, RecursionError) as error:
                raise InputError(
                    f"Line {number} is not a query", hint='Write {"query": "…"} or plain text.'
                ) from error
        if not isinstance(query, str) or not all(isinstance(fact, str) for fact in facts):
            raise InputError(f"Line {number}: the query and its facts must be strings")
        cases.append(Case(query, history, instructions, facts=tuple(facts)))
    return cases


@click.command("lint", short_help="Find brittle or vague parts of a system prompt.")
@click.argument("file", metavar="FILE")
@click.option("--strict", is_flag=True, help="Exit with 3 if there is a warning.")
@options.output
def lint(file: str, strict: bool, output: Output) -> int:
    """
    Find programs in prose, vague instructions, duplicate rules, and contradictions.

    FILE is a system prompt in English or Chinese; "-" is stdin.
    """
    from foldline.context.prompt_lint import lint as look

    problems = look(read_text(file))
    warnings = sum(problem.severity == "warning" for problem in problems)
    lines = []
    for problem in problems:
        other = f" (and line {problem.other})" if problem.other else ""
        lines.append(
            f"{file}:{problem.line}: {problem.severity}: {problem.rule}{other}: "
            f"{one_line(problem.quote, 120)}\n    {problem.why}\n    {problem.instead}"
        )
    value = {"file": file, "problems": [asdict(p) for p in problems]}
    output.result("lint/1", value, text="\n".join(lines))
    counts = f"{plural(warnings, 'warning')}, {plural(len(problems) - warnings, 'hint')}."
    output.note(counts if problems else "No problems found.")
    return 3 if strict and warnings else 0


EPILOG = """\b
Examples:
  foldline context build --query "Why is the build red?" --notes notes --file src --budget 4000
  foldline context lint prompt.md
  foldline context compare queries.txt --file docs --with min_relevance=0.3
"""


@click.group("context", cls=NamingGroup, epilog=EPILOG, commands=[build, lint, compare])
def command() -> None:
    """Build the context for one query, lint a prompt, or compare two configurations."""
