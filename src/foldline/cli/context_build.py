"""``foldline context build``: the context for one question."""

from __future__ import annotations

from typing import Any

import click

from foldline.cli import options
from foldline.cli.context_material import configured, material, opened
from foldline.cli.output import Voice, write_json, write_text
from foldline.context.built_context import Context

EPILOG = """\b
Examples:
  foldline context build --query "Why is the build red?" --notes notes --file src
  foldline context build --query "如何优化内存占用?" --history session.jsonl --lang zh --explain
  foldline context build --query "What is open?" --notes notes --json | jq .report.score
"""


@click.command("build", epilog=EPILOG, short_help="Build the context for one question.")
@click.option("--query", required=True, metavar="TEXT", help="What is asked.")
@material
@click.option("--lang", type=click.Choice(("auto", "en", "zh")), help="Language of the headings.")
@click.option("--form", type=click.Choice(("brackets", "xml")), help="Notation of the sections.")
@click.option(
    "--order", type=click.Choice(("standard", "cache")), help="What comes first (standard)."
)
@click.option("--explain", is_flag=True, help="Say on stderr where each packet went, and why.")
@options.voice
def build(
    query: str,
    budget: int | None,
    lang: str | None,
    form: str | None,
    order: str | None,
    explain: bool,
    **rest: Any,
) -> None:
    """
    Build the context for one question: gather, select, structure, compress, judge.

    The context goes to stdout, its figures and the advice to stderr.
    """
    from foldline.context.builder import ContextBuilder

    voice = options.voiced(rest)
    config = configured({}, max_tokens=budget, language=lang, form=form, order=order)
    with opened(rest, voice) as given:
        builder = ContextBuilder(config=config, sources=given.sources)
        context = builder.build(query, given.history, given.instructions)
    if voice.json:
        write_json("context/1", _as_json(context))
    else:
        write_text(context.text)
    _tell(context, explain, voice)


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


def _tell(context: Context, explain: bool, voice: Voice) -> None:
    report = context.report
    voice.note(
        f"{context.tokens:,} of {report.max_tokens:,} tokens, {len(context.packets)} packets in, "
        f"{len(context.left_out)} left out; score {report.score:.2f} (relevance "
        f"{report.relevance.value:.2f}, completeness {report.completeness.value:.2f}, density "
        f"{report.density.value:.2f}, redundancy {report.redundancy.value:.2f})."
    )
    for sentence in report.advice:
        voice.note(f"- {sentence}")
    for row in context.explain() if explain else ():
        place = row["section"] or "out"
        voice.note(
            f"  {place:<8} {row['tokens']:>6,} of {row['whole']:>6,}  {row['relevance']:.2f}  "
            f"{row['method']:<8}  {row['packet']}: {row['why']}"
        )
