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
            LOGGER.log(
                level,
                "session %r: %s compaction %s, %d to %d tokens in %.2f s",
                event.session,
                event.trigger,
                receipt.status,
                receipt.tokens_before,
                receipt.tokens_after,
                event.seconds,
            )
            LOGGER.debug("session %r: %s", event.session, receipt.reason)
        case CompactionFinished():
            LOGGER.info(
                "session %r: %s compaction ended by %s", event.session, event.trigger, event.error
            )
        case CompactionStarted():
            LOGGER.debug(
                "session %r: %s compaction starts at %d tokens",
                event.session,
                event.trigger,
                event.tokens,
            )
        case ContextWarning(pressure=now):
            LOGGER.warning(
                "session %r: the window is %d%% full (%s)",
                event.session,
                now.fraction * 100,
                now.level,
            )
        case ToolOutputBounded():
            LOGGER.info(
                "session %r: a tool output was cut, %d to %d tokens",
                event.session,
                event.tokens_before,
                event.tokens_after,
            )
        case _:
            LOGGER.debug("session %r: %s", event.session, event.kind)


def warn(sentence: str) -> None:
    """Log that a hook or a listener failed."""
    LOGGER.warning("%s", sentence)
