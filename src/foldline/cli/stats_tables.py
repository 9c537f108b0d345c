"""The tables of ``foldline stats``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from foldline.cli import output
from foldline.cli.bars import STYLES
from foldline.cli.output import Segment, counted, flexible, one_line, share, shortened, table
from foldline.cli.reading import Opened
from foldline.evaluation.breakdown import WASTE
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from foldline.inspector.stats import Stats


def show(opened: Opened, counter: TokenCounter, stats: Stats) -> None:
    """Print everything that is known about a conversation."""
    from rich.text import Text

    console = output.console()
    segments = [Segment(kind.name, kind.tokens, STYLES[kind.name]) for kind in stats.kinds]
    width = min(console.width, 100)
    console.print(Text(_title(opened), style="bold", overflow="ellipsis", no_wrap=True))
    counted_by = counter.name if counter.texts.exact else f"{counter.name}, not exact"
    sizes = f"{stats.tokens:,} tokens in {counted(stats.messages, 'message')}"
    console.print(f"{sizes} · counter {counted_by}")
    console.print(output.bar(segments, stats.tokens, width, console.encoding))
    for section in _sections(stats, console):
        if section.row_count:
            console.print()
            console.print(section)
    for line in _around(stats):
        console.print()
        console.print(line)


def _title(opened: Opened) -> str:
    from foldline.formats.files import file_format

    kind = file_format(opened.recording.format).title.split(" (")[0]
    place = f" · {opened.place}" if opened.place else ""
    return one_line(f"{opened.name} · {kind}{place}")


def _sections(stats: Stats, console: Console) -> Iterable[Table]:
    yield _kinds(stats, console.encoding)
    yield _tools(stats)
    yield _files(stats, console.width // 2 - 4)
    yield _largest(stats)
    yield _waste(stats)


def _kinds(stats: Stats, encoding: str) -> Table:
    from rich.text import Text

    mark = "■" if encoding.lower().startswith("utf") else "#"
    grid = table("kind", ">tokens", ">share", ">parts")
    for kind in stats.kinds:
        name = Text(f"{mark} ", style=STYLES[kind.name]).append(kind.name, style="default")
        part = share(kind.tokens, stats.tokens)
        grid.add_row(name, f"{kind.tokens:,}", part, f"{kind.count:,}")
    return grid


def _tools(stats: Stats) -> Table:
    grid = table("tool", ">tokens", ">share", ">calls", ">failed", ">in calls", ">in results")
    for tool in stats.tools:
        grid.add_row(
            one_line(tool.name, 40),
            f"{tool.tokens:,}",
            share(tool.tokens, stats.tokens),
            f"{tool.calls:,}",
            f"{tool.errors:,}" if tool.errors else "",
            f"{tool.call_tokens:,}",
            f"{tool.result_tokens:,}",
        )
    return grid


def _files(stats: Stats, width: int) -> Table:
    grid = table("file", ">tokens", ">share", "*what was done")
    for file in stats.files:
        done = ", ".join(
            f"{name} {count}×" if count > 1 else name for name, count in file.operations.items()
        )
        grid.add_row(
            shortened(file.path, width),
            f"{file.tokens:,}",
            share(file.tokens, stats.tokens),
            flexible(done),
        )
    return grid


def _largest(stats: Stats) -> Table:
    grid = table(">#", "largest message", ">tokens", ">share", "*begins")
    for large in stats.largest:
        grid.add_row(
            f"{large.index:,}",
            one_line(large.what, 24),
            f"{large.tokens:,}",
            share(large.tokens, stats.tokens),
            flexible(large.text),
        )
    return grid


def _waste(stats: Stats) -> Table:
    grid = table("waste", ">tokens", ">share", ">count", "*what it is")
    for found in stats.waste:
        part = share(found.tokens, stats.tokens)
        words = flexible(WASTE[found.name])
        grid.add_row(found.name, f"{found.tokens:,}", part, f"{found.count:,}", words)
    return grid


def _around(stats: Stats) -> Iterable[str]:
    besides = [f"a system prompt of {stats.system:,} tokens"] if stats.system else []
    if stats.schemas:
        schemas = counted(stats.schemas, "tool schema")
        besides.append(f"{schemas} of {stats.tool_schemas:,} tokens")
    if besides:
        yield f"Sent besides the messages: {' and '.join(besides)}."
    if stats.reported:
        used = stats.reported
        cached = f", {used.cache_read:,} of it from the cache" if used.cache_read else ""
        yield (
            f"The provider counted {used.total - used.output:,} tokens of input for the newest "
            f"request{cached}, and {used.output:,} of output."
        )
