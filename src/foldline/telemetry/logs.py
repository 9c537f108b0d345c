"""
Standard logging, under the name "foldline": silent until a program configures it.

Only numbers and names are logged, never any content of a conversation.
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
    """Redact secrets in a record: names of sessions and hooks may hold anything."""
    record.msg = redact_json(record.getMessage())
    record.args = ()
    return True


LOGGER.addFilter(_redact)


def log(event: Event) -> None:
    """Log an event: warnings and failures as warnings, compactions as information."""
    level, text = _describe(event)
    LOGGER.log(level, "session %r: %s", event.session, text)
    if isinstance(event, CompactionFinished) and event.receipt is not None:
        LOGGER.debug("session %r: %s", event.session, event.receipt.reason)


def _describe(event: Event) -> tuple[int, str]:
    """Return the level and the message of an event."""
    match event:
        case CompactionFinished(receipt=receipt) if receipt is not None:
            level = logging.WARNING if receipt.status == "failed" else logging.INFO
            sizes = f"{receipt.tokens_before} to {receipt.tokens_after} tokens"
            done = f"{event.trigger} compaction {receipt.status}"
            return level, f"{done}, {sizes} in {event.seconds:.2f} s"
        case CompactionFinished():
            return logging.INFO, f"{event.trigger} compaction ended by {event.error}"
        case CompactionStarted():
            return logging.DEBUG, f"{event.trigger} compaction starts at {event.tokens} tokens"
        case ContextWarning(pressure=now):
            return logging.WARNING, f"the window is {int(now.fraction * 100)}% full ({now.level})"
        case ToolOutputBounded():
            sizes = f"{event.tokens_before} to {event.tokens_after} tokens"
            return logging.INFO, f"a tool output was cut, {sizes}"
        case _:
            return logging.DEBUG, str(event.kind)


def warn(sentence: str) -> None:
    """Log that a hook or a listener failed."""
    LOGGER.warning("%s", sentence)
