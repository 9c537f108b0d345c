"""``foldline stats``: where the tokens of a conversation go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from foldline.cli import options
from foldline.cli.options import IntegerType
from foldline.cli.output import Output, console, one_line, shorten_path, table, write_json
from foldline.cli.reading import Input, counter_for, open_input
from foldline.evaluation.breakdown import WASTE, TokenStats, measure
from foldline.evaluation.figures import plural, share
from foldline.formats.files import file_format
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from foldline.cli.drawing import Grid, Screen

EPILOG = """\b
Examples:
  foldline stats session.jsonl
  foldline stats session.jsonl --conversation 1 --top 20
  foldline stats - --json < request.json
"""


@click.command("stats", epilog=EPILOG)
@options.input_file
@options.from_format
@options.max_bytes
@options.conversation
@options.model
@options.number("--top", IntegerType(1, 1_000), 8, "Rows of each table.")
@options.output
def command(model: str | None, top: int, output: Output, **source: Any) -> None:
    """
    Show where the tokens of a conversation go: by kind, tool and file, and how much is waste.

    FILE is an agent transcript, or provider messages as JSON; "-" is stdin.
    """
    opened = open_input(output=output, **source)
    output.warn(opened.warnings)
    counter = counter_for(opened.transcript, model, output)
    with output.working("Counting tokens", long=opened.long):
        stats = measure(opened.transcript, counter, top)
    if output.json:
        write_json("stats/1", _as_json(opened, counter, stats))
    else:
        _show(opened, counter, stats, output)


def _as_json(opened: Input, counter: TokenCounter, stats: TokenStats) -> dict[str, Any]:
    return {
        **opened.to_dict(),
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


def _show(opened: Input, counter: TokenCounter, stats: TokenStats, output: Output) -> None:
    """Print all statistics of a conversation."""
    from rich.text import Text

    from foldline.cli.drawing import bar

    screen = console()
    screen.print(Text(_title(opened), style="bold", overflow="ellipsis", no_wrap=True))
    inexact = "" if counter.texts.exact else ", not exact"
    sizes = f"{stats.tokens:,} tokens in {plural(stats.messages, 'message')}"
    screen.print(f"{sizes} · counter {counter.name}{inexact}")
    width = min(screen.width, 100)
    screen.print(bar(stats.kinds, stats.tokens, width, blocks=screen.colours_blocks))
    screen.print()
    output.draw(*(section for section in _sections(stats, screen) if section.row_count))
    for part in _around(stats):
        screen.print()
        screen.print(part)


def _title(opened: Input) -> str:
    kind = file_format(opened.recording.format).title.split(" (")[0]
    place = f" · {opened.place}" if opened.place else ""
    return one_line(f"{opened.name} · {kind}{place}")


def _sections(stats: TokenStats, screen: Screen) -> Iterable[Grid]:
    from foldline.cli.drawing import swatch

    yield table(
        *("kind", ">tokens", ">share", ">parts"),
        rows=[
            (
                swatch(kind.name, blocks=screen.colours_blocks),
                kind.tokens,
                share(kind.tokens, stats.tokens),
                kind.count,
            )
            for kind in stats.kinds
        ],
    )
    yield _tools(stats)
    yield _files(stats, screen.width // 2 - 4)
    yield table(
        *(">#", "largest message", ">tokens", ">share", "*begins"),
        rows=[
            (m.index, one_line(m.what, 24), m.tokens, share(m.tokens, stats.tokens), m.text)
            for m in stats.largest
        ],
    )
    yield table(
        *("waste", ">tokens", ">share", ">count", "*what it is"),
        rows=[
            (w.name, w.tokens, share(w.tokens, stats.tokens), w.count, WASTE[w.name])
            for w in stats.waste
        ],
    )


def _tools(stats: TokenStats) -> Grid:
    rows = []
    for tool in stats.tools:
        size = (one_line(tool.name, 40), tool.tokens, share(tool.tokens, stats.tokens))
        calls = (tool.calls, tool.errors or "", tool.call_tokens, tool.result_tokens)
        rows.append(size + calls)
    heads = ("tool", ">tokens", ">share", ">calls", ">failed", ">in calls", ">in results")
    return table(*heads, rows=rows)


def _files(stats: TokenStats, width: int) -> Grid:
    rows = []
    for file in stats.files:
        done = ", ".join(
            f"{name} {count}×" if count > 1 else name for name, count in file.operations.items()
        )
        path = shorten_path(file.path, width)
        rows.append((path, file.tokens, share(file.tokens, stats.tokens), done))
    return table("file", ">tokens", ">share", "*what was done", rows=rows)


def _around(stats: TokenStats) -> Iterable[str]:
    besides = [f"a system prompt of {stats.system:,} tokens"] if stats.system else []
    if stats.schemas:
        schemas = plural(stats.schemas, "tool schema")
        besides.append(f"{schemas} of {stats.tool_schemas:,} tokens")
    if besides:
        yield f"Also sent: {' and '.join(besides)}."
    if stats.reported:
        used = stats.reported
        cached = f", {used.cache_read:,} of it from the cache" if used.cache_read else ""
        yield (
            f"The provider counted {used.total - used.output:,} tokens of input for the newest "
            f"request{cached}, and {used.output:,} of output."
        )
