"""The receipt as people see it: before and after, by which rungs, what was kept, how to recall."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.cli import output
from foldline.cli.asking import bill
from foldline.cli.bars import segments
from foldline.cli.compacted import Compacted
from foldline.cli.output import counted, one_line, printable, share
from foldline.values.edits import Drop, Fold, Rewrite
from foldline.values.protect import is_snapshot

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table


def show(done: Compacted, out: Path | None) -> None:
    """Tell on stderr what was done: in a panel on a terminal, in a few lines elsewhere."""
    if not sys.stderr.isatty():
        _plain(done)
        return
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    console = output.console(err=True)
    width = min(console.width, 100)
    rows: list[RenderableType] = [_bars(done, console, width - 4), Text()]
    if done.receipt.status == "compacted":
        rows += [_rungs(done), Text()]
    rows.append(_facts(done, out))
    title = Text(one_line(f" {done.opened.name} ", width - 8), style="bold")
    console.print(Panel(Group(*rows), title=title, title_align="left", width=width))


def _plain(done: Compacted) -> None:
    lines = [str(done.receipt), *(f"warning: {warning}." for warning in done.warnings)]
    lines += [
        f"{rung.name}, without a model: {rung.reason}"
        for rung in done.receipt.rungs
        if rung.outcome == "fallback"
    ]
    if done.receipt.spent.attempts:
        lines.append(f"asked: {bill(done.receipt.spent)}")
    if done.session:
        lines.append(f"recall: foldline recall HANDLE, session {done.session!r} in {done.archive}")
    sys.stderr.write("\n".join(map(printable, lines)) + "\n")


def _bars(done: Compacted, console: Console, width: int) -> RenderableType:
    """Draw what it took before and what it takes now to the same scale."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    receipt = done.receipt
    before = segments(done.result.transcript.messages, done.counter)
    after = segments(done.result.shown.messages, done.counter)
    lines = []
    for name, parts, tokens in (
        ("before", before, receipt.tokens_before),
        ("after", after, receipt.tokens_after),
    ):
        percent = "" if name == "before" else f" {share(tokens, receipt.tokens_before)}"
        numbers = f" {tokens:>9,}{percent:>6}"
        room = max(10, width - len("before ") - 16)
        line = Text(f"{name:7}", style="bold")
        line.append(output.bar(parts, receipt.tokens_before, room, console.encoding))
        lines.append(line.append(numbers))
    seen = {segment.name: segment for segment in (*before, *after)}
    key = Table.grid()
    key.add_row(" " * 7, output.legend([*seen.values()], width - 7, console.encoding))
    return Group(*lines, key)


def _rungs(done: Compacted) -> Table:
    grid = output.table("rung", ">tokens freed", "*what it did")
    for rung in done.receipt.rungs:
        freed = f"{rung.freed:,}" if rung.is_in_effect else ""
        words = _did(done, rung.name) if rung.is_in_effect else rung.reason
        if rung.outcome == "fallback":
            words = f"{words}; without a model: {rung.reason}"
        style = "" if rung.is_in_effect else "dim"
        grid.add_row(rung.name, freed, output.flexible(words), style=style)
    return grid


_DONE = {
    "clear": "tool result cleared",
    "dedupe": "superseded result cleared",
    "reasoning": "piece of old reasoning left out",
    "truncate": "part cut",
}


def _did(done: Compacted, kind: str) -> str:
    """Say what the edits of a rung were."""
    edits = [edit for edit in done.receipt.edits if edit.kind == kind]
    rewritten = sum(isinstance(edit, Rewrite) for edit in edits)
    dropped = sum(len(edit.messages) for edit in edits if isinstance(edit, Drop))
    folded = sum(len(edit.messages) for edit in edits if isinstance(edit, Fold))
    words = []
    if rewritten:
        words.append(_many(rewritten, _DONE.get(kind, "part rewritten")))
    if folded:
        words.append(f"{counted(folded, 'message')} folded into a snapshot")
    if dropped:
        words.append(f"{counted(dropped, 'message')} left out")
    return ", ".join(words) or counted(len(edits), "repair")


def _many(number: int, what: str) -> str:
    """Write a number with a noun that has words behind it: ``3 tool results cleared``."""
    for noun in ("tool result", "superseded result", "piece", "part"):
        if what.startswith(noun):
            return counted(number, noun) + what.removeprefix(noun)
    return f"{number:,} {what}"


def _facts(done: Compacted, out: Path | None) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    receipt = done.receipt
    if receipt.status == "compacted":
        grid.add_row("kept", printable(_kept(done)))
        grid.add_row("recall", printable(_how_to_recall(done)))
    else:
        grid.add_row("unchanged", f"{receipt.reason}; the output is the input")
    exact = "" if done.counter.texts.exact else ", not exact"
    allowed = f"the messages may take {receipt.budget:,} tokens"
    grid.add_row("counted", f"with {receipt.counter}{exact}; {allowed}")
    if receipt.spent.attempts:
        grid.add_row("asked", printable(bill(receipt.spent)))
    if out is not None:
        grid.add_row("written", printable(str(out)))
    for warning in done.warnings:
        grid.add_row("warning", printable(warning), style="yellow")
    return grid


def _kept(done: Compacted) -> str:
    shown = done.result.shown.messages
    whole = sum(message.intact and not is_snapshot(message) for message in shown)
    roles = Counter(message.role for message in shown if not is_snapshot(message))
    snapshots = len(shown) - roles.total()
    listed = ", ".join(
        [f"{count:,} {role}" for role, count in roles.items()]
        + ([counted(snapshots, "snapshot")] if snapshots else [])
    )
    return (
        f"{whole:,} of {counted(done.receipt.messages_before, 'message')} word for word; "
        f"now {counted(len(shown), 'message')}" + (f" ({listed})" if listed else "")
    )


def _how_to_recall(done: Compacted) -> str:
    handles = list(done.receipt.recall)
    if not handles:
        return "nothing was taken out of sight"
    if not done.session:
        return f"{counted(len(handles), 'handle')}, but nothing was archived: keep the input"
    where = f"one of {counted(len(handles), 'handle')} in {done.archive}"
    return f"foldline recall {handles[0]}   ({where})"
