"""``foldline context compare``: two configurations over the same questions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import click

from foldline.cli import options
from foldline.cli.context_material import configured, material, opened, read_text
from foldline.cli.output import write_json, write_text
from foldline.context.comparing import Case
from foldline.errors import InputError

EPILOG = """\b
FILE has one question a line: plain text, or JSON such as
  {"query": "Which port?", "facts": ["8443"]}
where facts are words that a good context holds; they make the recall.

\b
Examples:
  foldline context compare queries.txt --file docs --with min_relevance=0.3
  foldline context compare queries.jsonl --notes notes --base order=standard --with order=cache
"""


@click.command("compare", epilog=EPILOG, short_help="Compare two configurations over questions.")
@click.argument("file", metavar="FILE")
@material
@click.option("--base", multiple=True, metavar="KEY=VALUE", help="A setting of the first one.")
@click.option(
    "--with", "changed", multiple=True, required=True, metavar="KEY=VALUE",
    help="A setting of the second one; it has those of the first besides.",
)  # fmt: skip
@options.voice
def compare(
    file: str, budget: int | None, base: tuple[str, ...], changed: tuple[str, ...], **rest: Any
) -> None:
    """Build the context of every question under two configurations, and show what differs."""
    from foldline.context.builder import ContextBuilder
    from foldline.context.comparing import compare as compared

    voice = options.voiced(rest)
    first = _pairs(base)
    second = {**first, **_pairs(changed)}
    configs = [configured(pairs, max_tokens=budget) for pairs in (first, second)]
    text = read_text(file)
    with opened(rest, voice) as given:
        cases = _cases(text, given.history, given.instructions)
        one, other = (ContextBuilder(config=config, sources=given.sources) for config in configs)
        names = (" ".join(base) or "as it is", " ".join(changed))
        with voice.working("Building", long=len(cases) > 20):
            result = compared(cases, one, other, names)
    if voice.json:
        rows = [{**asdict(row), "verdict": row.verdict} for row in result.rows]
        write_json("comparison/1", {"cases": result.cases, "names": names, "rows": rows})
    else:
        write_text(result.table())
    if any(result.failed):
        voice.note(f"Not built, what is mandatory does not fit: {result.failed}.")


def _pairs(settings: Iterable[str]) -> dict[str, str]:
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, _ in pairs:
        if not equals:
            raise click.UsageError(f"{name!r} is no setting; write KEY=VALUE.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _cases(text: str, history: tuple[Any, ...], instructions: str | None) -> list[Case]:
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        query, facts = line.strip(), list[Any]()
        if query.startswith("{"):
            try:
                value = json.loads(query)
                query, facts = value["query"], value.get("facts", [])
            except (ValueError, KeyError, RecursionError) as error:
                raise InputError(
                    f"line {number} is no question", hint='Write {"query": "…"} or plain text.'
                ) from error
        if not isinstance(query, str) or not all(isinstance(fact, str) for fact in facts):
            raise InputError(f"line {number}: the query and its facts are texts")
        cases.append(Case(query, history, instructions, facts=tuple(facts)))
    return cases
