"""``foldline stats``: where the tokens of a conversation go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import click

from foldline.cli import options
from foldline.cli.numbers import Whole
from foldline.cli.output import Voice, write_json
from foldline.cli.reading import Opened, counter_for, open_input
from foldline.inspector.stats import Stats, measure
from foldline.values.tokens import TokenCounter

EPILOG = """\b
Examples:
  foldline stats session.jsonl
  foldline stats session.jsonl --conversation 1 --top 20
  foldline stats - --json < request.json
"""


@click.command("stats", epilog=EPILOG, short_help="Show where the tokens of a conversation go.")
@options.input_file
@options.from_format
@options.max_bytes
@options.conversation
@options.model
@click.option("--top", type=Whole(1, 1_000), default=8, help="Rows of each table (8).")
@options.voice
def command(
    file: str,
    source_format: str | None,
    max_bytes: int | None,
    conversation: str | None,
    model: str | None,
    top: int,
    **rest: Any,
) -> None:
    """
    Show where the tokens of a conversation go: by kind, tool and file, and what is waste.

    FILE is a transcript of an agent or provider messages as JSON; "-" is stdin.
    """
    voice = options.voiced(rest)
    opened = open_input(file, source_format, conversation, voice, max_bytes)
    voice.warn(opened.warnings)
    counter = counter_for(opened.transcript, model, voice)
    with voice.working("Counting tokens", long=opened.long):
        stats = measure(opened.transcript, counter, top)
    _show(opened, counter, stats, voice)


def _show(opened: Opened, counter: TokenCounter, stats: Stats, voice: Voice) -> None:
    if voice.json:
        write_json("stats/1", _as_json(opened, counter, stats))
        return
    from foldline.cli.stats_tables import show

    show(opened, counter, stats)


def _as_json(opened: Opened, counter: TokenCounter, stats: Stats) -> dict[str, Any]:
    return {
        "file": opened.name,
        "format": opened.recording.format,
        "conversation": {
            "name": opened.conversation.name,
            "number": opened.index + 1,
            "of": len(opened.recording.conversations),
        },
        "counter": {"name": counter.name, "exact": counter.texts.exact},
        "tokens": stats.tokens,
        "messages": stats.messages,
        "overhead": {"system": stats.system, "tool_schemas": stats.tool_schemas},
        "reported": asdict(stats.reported) if stats.reported else None,
        "kinds": _rows(stats.kinds),
        "tools": [{**asdict(tool), "tokens": tool.tokens} for tool in stats.tools],
        "files": _rows(stats.files),
        "largest": _rows(stats.largest),
        "waste": _rows(stats.waste),
        "warnings": list(opened.warnings),
    }


def _rows(items: Iterable[Any]) -> list[dict[str, Any]]:
    return [asdict(item) for item in items]
