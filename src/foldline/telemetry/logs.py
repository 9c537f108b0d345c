"""
Standard logging, under the name "foldline": silent until a program asks for it.

Information is about numbers and names; nothing of a conversation is ever logged.
"""

from __future__ import annotations

import logging
from typing import Final

from foldline.engine.events import (
    CompactionFinished,
    CompactionStarted,
    ContextWarning,
    Event,
    ToolOutputBounded,
)
from foldline.redaction import redact_json

LOGGER: Final = logging.getLogger("foldline")
LOGGER.addHandler(logging.NullHandler())


def _redact(record: logging.LogRecord) -> bool:
    """Take secrets out of a record: names of sessions and hooks are anything."""
    record.msg = redact_json(record.getMessage())
    record.args = ()
    return True


LOGGER.addFilter(_redact)


def log(event: Event) -> None:
    """Log an event: warnings and failures as warnings, compactions as information."""
    match event:
        case CompactionFinished(receipt=receipt) if receipt is not None:
            level = logging.WARNING if receipt.status == "failed" else logging.INFO
            done = f"{event.trigger} compaction {receipt.status}"
            sizes = f"{receipt.tokens_before} to {receipt.tokens_after} tokens"
            _log(level, event, f"{done}, {sizes} in {event.seconds:.2f} s")
            _log(logging.DEBUG, event, receipt.reason)
        case CompactionFinished():
            _log(logging.INFO, event, f"{event.trigger} compaction ended by {event.error}")
        case CompactionStarted():
            begun = f"{event.trigger} compaction starts at {event.tokens} tokens"
            _log(logging.DEBUG, event, begun)
        case ContextWarning(pressure=now):
            full = f"the window is {int(now.fraction * 100)}% full ({now.level})"
            _log(logging.WARNING, event, full)
        case ToolOutputBounded():
            sizes = f"{event.tokens_before} to {event.tokens_after} tokens"
            _log(logging.INFO, event, f"a tool output was cut, {sizes}")
        case _:
            _log(logging.DEBUG, event, event.kind)


def _log(level: int, event: Event, what: str) -> None:
    LOGGER.log(level, "session %r: %s", event.session, what)


def warn(sentence: str) -> None:
    """Log that a hook or a listener failed."""
    LOGGER.warning("%s", sentence)
