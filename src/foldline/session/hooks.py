"""
Hooks: functions called around a compaction, when the window fills, and on messages.

A hook is a function, sync or async. It can cancel a compaction, but not break it: a hook that
raises, times out or returns an invalid value is named in the receipt, and the compaction goes on.
Hooks that rewrite messages exist to remove secrets: if one of them fails, the message is neither
recorded nor sent.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, Literal, TypeAlias, get_args

from foldline.concurrency import DeadlineExceeded, run_with_timeout, running_loop, start_thread
from foldline.core.validation import positive
from foldline.engine.events import Event
from foldline.errors import BudgetError, FoldlineError
from foldline.frozen import frozen
from foldline.redaction import explain_error
from foldline.session.fair_lock import loop_of_holder

Hook: TypeAlias = Callable[[Any], Any]
"""Receives the event; its return value counts only before a compaction."""

Listener: TypeAlias = Callable[[Event], object]
"""Receives every event; called synchronously, so it must be quick."""

Moment: TypeAlias = Literal["before", "after", "warning", "listeners", "keep", "send"]
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

NAME: Final = "foldline-hook"


class Cancel(Exception):
    """
    Raised or returned by a hook to cancel a compaction.

    Args:
        reason: The reason, for the receipt.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


@frozen
class Hooks:
    """
    The hooks of a session; each is one function or several, called in order.

    Args:
        before: Receive a `CompactionStarted`. A hook that returns False or a `Cancel`, or raises a
            `Cancel`, cancels the compaction; None and True let it go on.
        after: Receive the matching `CompactionFinished`, however the compaction ended.
        warning: Receive a `ContextWarning`, once each time that a threshold is passed.
        listeners: Receive every event, synchronously and in order; never async.
        keep: Receive every wire message before it is recorded, and return the message to record
            instead; None leaves it unchanged.
        send: Receive the list of wire messages that the model is about to see, and return the
            list to send instead; None leaves it unchanged. The change is not recorded.
        seconds: Timeout of each hook.

    A ``keep`` or ``send`` hook that returns False or a `Cancel`, or raises, refuses: the call
    that appends or returns the view raises a `FoldlineError`, and nothing is recorded or sent.

    Raises:
        BudgetError: A hook is not callable, or ``seconds`` is not a positive number.
    """

    before: Hook | Iterable[Hook] = ()
    after: Hook | Iterable[Hook] = ()
    warning: Hook | Iterable[Hook] = ()
    listeners: Listener | Iterable[Listener] = ()
    keep: Hook | Iterable[Hook] = ()
    send: Hook | Iterable[Hook] = ()
    seconds: float = 5.0

    def __post_init__(self) -> None:
        positive("hooks.seconds", self.seconds)
        for moment in MOMENTS:
            given = getattr(self, moment)
            calls = self.at(moment) if callable(given) or isinstance(given, Iterable) else (given,)
            if not all(callable(call) for call in calls):
                raise BudgetError(
                    f"hooks.{moment} contains an object that is not callable.",
                    hint="Give a function, or several.",
                )
            object.__setattr__(self, moment, calls)  # an iterator could be read only once

    def at(self, moment: Moment) -> tuple[Hook, ...]:
        """Return the functions for a moment."""
        given: Hook | Iterable[Hook] = getattr(self, moment)
        return (given,) if callable(given) else tuple(given)


def request_approval(hooks: Hooks, event: Event) -> tuple[str | None, tuple[str, ...]]:
    """
    Call the hooks before a compaction until one cancels it.

    Returns:
        The reason to cancel, None for none; and a sentence for each hook that failed.
    """
    warnings: list[str] = []
    for hook in hooks.at("before"):
        answer, warning = _call(hook, event, hooks.seconds)
        if warning:
            warnings.append(warning)
        elif answer is False or isinstance(answer, Cancel):
            return f"the hook {_name(hook)} cancelled it{_reason(answer)}", tuple(warnings)
        elif answer is not None and answer is not True:
            warnings.append(
                f"The hook {_name(hook)} returned {answer!r:.40}, which is ignored: "
                "None goes on, False or a Cancel cancels."
            )
    return None, tuple(warnings)


def _reason(answer: Any) -> str:
    return f": {answer.reason}" if isinstance(answer, Cancel) and answer.reason else ""


def apply_hooks(hooks: Hooks, moment: Literal["keep", "send"], value: Any) -> Any:
    """
    Pass a message, or the messages to send, through the hooks of a moment; return the result.

    Raises:
        FoldlineError: A hook refused or failed.
    """
    for hook in hooks.at(moment):
        answer, warning = _call(hook, value, hooks.seconds)
        if warning:
            raise FoldlineError(f"Nothing was {_DONE[moment]}. {warning}")
        if answer is False or isinstance(answer, Cancel):
            effect = f"nothing was {_DONE[moment]}{_reason(answer)}"
            raise FoldlineError(f"The hook {_name(hook)} refused: {effect}.")
        value = value if answer is None else answer
    return value


_DONE: Final = {"keep": "recorded", "send": "sent"}


def notify(hooks: Hooks, moment: Moment, event: Event) -> tuple[str, ...]:
    """Call hooks whose return values are ignored; return a sentence for each that failed."""
    warnings = (_call(hook, event, hooks.seconds)[1] for hook in hooks.at(moment))
    return tuple(warning for warning in warnings if warning)


def notify_later(hooks: Hooks, moment: Moment, event: Event) -> None:
    """Call hooks without waiting for them, so that the program can be stopped."""
    if hooks.at(moment):
        start_thread(lambda: notify(hooks, moment, event), NAME)


def _call(hook: Hook, event: Any, seconds: float) -> tuple[Any, str]:
    """Call a hook; return its return value and, if it failed, a sentence about that."""
    # The loop that uses the session, unless this thread runs it.
    loop = loop_of_holder() if running_loop() is None else None
    try:
        return run_with_timeout(lambda: _answer(hook, event, seconds, loop), seconds, NAME), ""
    except Cancel as cancel:
        return cancel, ""
    except (DeadlineExceeded, TimeoutError):
        return None, f"The hook {_name(hook)} took more than {seconds:g} seconds."
    except Exception as error:  # noqa: BLE001  # no exception of a hook stops the compaction
        # Redacted: receipts are stored.
        return None, f"The hook {_name(hook)} raised {explain_error(error)[:240]}"


def _answer(hook: Hook, event: Any, seconds: float, loop: asyncio.AbstractEventLoop | None) -> Any:
    answer = hook(event)
    if not inspect.isawaitable(answer):
        return answer
    if loop is None:
        return asyncio.run(_within(answer, seconds))
    return asyncio.run_coroutine_threadsafe(_within(answer, seconds), loop).result()


async def _within(answer: Awaitable[Any], seconds: float) -> Any:
    async with asyncio.timeout(seconds):
        return await answer


def _name(hook: Hook) -> str:
    return getattr(hook, "__qualname__", type(hook).__name__)
