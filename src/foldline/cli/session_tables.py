"""The sessions of an archive as tables, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.cli.output import (
    Voice,
    console,
    counted,
    flexible,
    moment,
    one_line,
    size,
    table,
    write_json,
)
from foldline.engine.receipt import Receipt
from foldline.stores.protocol import SessionInfo


def list_sessions(sessions: Sequence[SessionInfo], voice: Voice) -> None:
    """Write a list of sessions to stdout."""
    if voice.json:
        write_json("sessions/1", {"sessions": [_row(info) for info in sessions]})
        return
    if not sessions:
        voice.note("The archive is empty.")
        return
    grid = table("*session", "format", ">messages", ">compactions", ">size", "changed")
    for info in sessions:
        grid.add_row(
            flexible(info.head.name),
            one_line(info.head.dialect, 20),
            f"{info.messages:,}",
            f"{info.batches:,}",
            size(info.size),
            _when(info.updated),
        )
    console().print(grid)
    voice.note(f"{counted(len(sessions), 'session')}.")


def show_session(info: SessionInfo, receipts: Sequence[Receipt], voice: Voice) -> None:
    """Write a session and the receipts of what was tried on it to stdout."""
    if voice.json:
        listed = [receipt.to_dict() for receipt in receipts]
        write_json("sessions.show/1", {**_row(info), "receipts": listed})
        return
    grid = table("session", "*" + one_line(info.head.name))
    window = f" of {info.head.window:,} tokens" if info.head.window else ""
    for name, words in (
        ("format", info.head.dialect or "not known yet"),
        ("model", f"{info.head.model or 'not named'}{window}"),
        ("started", _when(info.head.created)),
        ("changed", _when(info.updated)),
        ("messages", f"{info.messages:,}, {size(info.size)}"),
    ):
        grid.add_row(name, flexible(words))
    console().print(grid)
    done = [receipt for receipt in receipts if receipt.status == "compacted"]
    if done:
        console().print()
        console().print(_receipts(done))
    saved = sum(receipt.tokens_before - receipt.tokens_after for receipt in done)
    voice.note(f"{counted(len(done), 'compaction')}, {saved:,} tokens taken out of sight.")


def _receipts(receipts: Sequence[Receipt]) -> Any:
    grid = table(">#", ">before", ">after", ">messages", "*by", ">model")
    for number, receipt in enumerate(receipts, 1):
        price = f"${receipt.spent.usd:.4f}" if receipt.spent.attempts else ""
        grid.add_row(
            str(number),
            f"{receipt.tokens_before:,}",
            f"{receipt.tokens_after:,}",
            f"{receipt.messages_before:,} → {receipt.messages_after:,}",
            flexible(receipt.reason),
            price,
        )
    return grid


def _when(seconds: float) -> str:
    return f"{moment(seconds).astimezone():%Y-%m-%d %H:%M}"


def _row(info: SessionInfo) -> dict[str, Any]:
    return {
        "name": info.head.name,
        "format": info.head.dialect,
        "model": info.head.model,
        "window": info.head.window,
        "messages": info.messages,
        "compactions": info.batches,
        "bytes": info.size,
        "created": moment(info.head.created).isoformat(),
        "updated": moment(info.updated).isoformat(),
    }
