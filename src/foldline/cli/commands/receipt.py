"""The report of ``foldline compact``: the receipt as JSON, in a panel or in a few lines."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.api import Compaction
from foldline.archive import Archive
from foldline.cli.output import console, flexible, one_line, printable, table
from foldline.cli.policy_options import bill
from foldline.cli.reading import Input
from foldline.cli.stores import make_folder
from foldline.engine.receipt import Receipt
from foldline.evaluation.breakdown import by_kind
from foldline.evaluation.figures import plural, share
from foldline.frozen import frozen, replace
from foldline.values.edits import Drop, Fold, Rewrite
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from foldline.cli.drawing import Screen


@frozen
class CompactionResult:
    """A compaction; ``archive`` and ``session`` locate its originals, if they are kept."""

    opened: Input
    result: Compaction[None]
    counter: TokenCounter
    archive: Path | None = None
    session: str = ""

    @property
    def receipt(self) -> Receipt:
        """The receipt of the compaction."""
        return self.result.receipt

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about unreadable input and those of the receipt, without duplicates."""
        return tuple(dict.fromkeys((*self.opened.warnings, *self.receipt.warnings)))

    def to_dict(self, to: str | None, out: Path | None, content: bytes | None) -> dict[str, Any]:
        """
        Return the result as JSON values.

        Args:
            to: The requested wire format.
            out: Where the result was written; None for stdout.
            content: The result, if it was not written to a file.
        """
        opened = self.opened
        return {
            **opened.to_dict(),
            "to": to,
            "output": None if out is None else str(out),
            "archive": None if self.archive is None else str(self.archive),
            "session": self.session or None,
            "receipt": self.receipt.to_dict() | {"warnings": list(self.warnings)},
            "result": None if content is None else _value(content),
        }


def keep_in_archive(done: CompactionResult, path: Path | None) -> CompactionResult:
    """
    Archive the original for recall, before any output names a handle.

    Args:
        done: A compaction.
        path: The archive; None keeps nothing.

    Raises:
        StoreError: It cannot be written.
    """
    if path is None or done.receipt.status != "compacted":
        return done
    make_folder(path, "--archive", "--no-archive")
    with Archive.open(path) as archive:
        session = archive.save(_title(done.opened), done.result.transcript, done.receipt)
    return replace(done, archive=path, session=session)


def _title(opened: Input) -> str:
    """Return a name for the session: the file name, or for stdin one from its first message."""
    messages = opened.transcript.messages
    first = f" {messages[0].id[:8]}" if opened.name == "stdin" and messages else ""
    name = opened.name.encode("utf-8", "replace").decode()  # of a file: any bytes
    return f"{name}{first}" + (f" ({opened.place})" if opened.place else "")


def _value(content: bytes) -> Any:
    """Return a result as a JSON value if it is JSON, else as text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def show(done: CompactionResult, out: Path | None) -> None:
    """Report the result on stderr: in a panel on a terminal, in a few lines elsewhere."""
    if not sys.stderr.isatty():
        _plain(done)
        return
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    screen = console(err=True)
    width = min(screen.width, 100)
    rows: list[RenderableType] = [_bars(done, screen, width - 4), Text()]
    if done.receipt.status == "compacted":
        rows += [_rungs(done), Text()]
    rows.append(_facts(done, out))
    title = Text(one_line(f" {done.opened.name} ", width - 8), style="bold")
    screen.print(Panel(Group(*rows), title=title, title_align="left", width=width))


def _plain(done: CompactionResult) -> None:
    lines = [str(done.receipt), *(f"warning: {warning}." for warning in done.warnings)]
    failed = (rung for rung in done.receipt.rungs if rung.outcome == "fallback")
    lines += [f"{rung.name}, without a model: {rung.reason}" for rung in failed]
    if done.receipt.spent.attempts:
        lines.append(f"asked: {bill(done.receipt.spent)}")
    if done.session:
        lines.append(f"recall: foldline recall HANDLE, session {done.session!r} in {done.archive}")
    sys.stderr.write("\n".join(map(printable, lines)) + "\n")


def _bars(done: CompactionResult, screen: Screen, width: int) -> RenderableType:
    """Draw the tokens before and after on the same scale."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from foldline.cli.drawing import bar, legend

    receipt = done.receipt
    before = by_kind(done.result.transcript.messages, done.counter)
    after = by_kind(done.result.shown.messages, done.counter)
    whole, left = receipt.tokens_before, receipt.tokens_after
    room = max(10, width - len("before ") - 16)
    lines = []
    for name, parts, numbers in (
        ("before", before, f" {whole:>9,}      "),
        ("after", after, f" {left:>9,}{f' {share(left, whole)}':>6}"),
    ):
        line = Text(f"{name:7}", style="bold")
        line.append(bar(parts, whole, room, blocks=screen.colours_blocks))
        lines.append(line.append(numbers))
    seen = {share.name: share for share in (*before, *after)}
    key = Table.grid()
    key.add_row(" " * 7, legend([*seen.values()], width - 7, blocks=screen.colours_blocks))
    return Group(*lines, key)


def _rungs(done: CompactionResult) -> Table:
    grid = table("rung", ">tokens freed", "*what it did")
    for rung in done.receipt.rungs:
        freed = f"{rung.freed:,}" if rung.is_in_effect else ""
        words = _describe_edits(done, rung.name) if rung.is_in_effect else rung.reason
        if rung.outcome == "fallback":
            words = f"{words}; without a model: {rung.reason}"
        style = "" if rung.is_in_effect else "dim"
        grid.add_row(rung.name, freed, flexible(words), style=style)
    return grid


_REWRITTEN = {
    "clear": ("tool result", "cleared"),
    "dedupe": ("superseded result", "cleared"),
    "reasoning": ("piece", "of old reasoning left out"),
    "truncate": ("part", "cut"),
}
"""Names of each rung's rewrites: a noun to count, and a participle."""


def _describe_edits(done: CompactionResult, kind: str) -> str:
    """Describe the edits of a rung."""
    edits = [edit for edit in done.receipt.edits if edit.kind == kind]
    rewritten = sum(isinstance(edit, Rewrite) for edit in edits)
    dropped = sum(len(edit.messages) for edit in edits if isinstance(edit, Drop))
    folded = sum(len(edit.messages) for edit in edits if isinstance(edit, Fold))
    words = []
    if rewritten:
        noun, done_to = _REWRITTEN.get(kind, ("part", "rewritten"))
        words.append(f"{plural(rewritten, noun)} {done_to}")
    if folded:
        words.append(f"{plural(folded, 'message')} folded into a snapshot")
    if dropped:
        words.append(f"{plural(dropped, 'message')} left out")
    return ", ".join(words) or plural(len(edits), "repair")


def _facts(done: CompactionResult, out: Path | None) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    receipt = done.receipt
    if receipt.status == "compacted":
        facts = {"kept": _messages_left(done), "recall": _how_to_recall(done)}
    else:
        facts = {"unchanged": f"{receipt.reason}; the output is the input"}
    exact = "" if done.counter.texts.exact else ", not exact"
    allowed = f"the messages may take {receipt.budget:,} tokens"
    facts["counted"] = f"with {receipt.counter}{exact}; {allowed}"
    if receipt.spent.attempts:
        facts["asked"] = bill(receipt.spent)
    if out is not None:
        facts["written"] = str(out)
    for name, words in facts.items():
        grid.add_row(name, printable(words))
    for warning in done.warnings:
        grid.add_row("warning", printable(warning), style="yellow")
    return grid


def _messages_left(done: CompactionResult) -> str:
    messages = done.result.shown.messages
    whole = sum(message.intact and not is_snapshot(message) for message in messages)
    roles = Counter(message.role for message in messages if not is_snapshot(message))
    snapshots = len(messages) - roles.total()
    listed = [f"{count:,} {role}" for role, count in roles.items()]
    if snapshots:
        listed.append(plural(snapshots, "snapshot"))
    before, now = done.receipt.messages_before, plural(len(messages), "message")
    held = f" ({', '.join(listed)})" if listed else ""
    return f"{whole:,} of {plural(before, 'message')} word for word; now {now}{held}"


def _how_to_recall(done: CompactionResult) -> str:
    handles = list(done.receipt.recall)
    if not handles:
        return "nothing was removed from the view"
    if not done.session:
        return f"{plural(len(handles), 'handle')}, but nothing was archived: keep the input"
    where = f"one of {plural(len(handles), 'handle')} in {done.archive}"
    return f"foldline recall {handles[0]}   ({where})"
