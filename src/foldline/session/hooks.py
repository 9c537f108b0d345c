"""
Hooks: what a program does before and after a compaction, when the window fills, and with messages.

A hook is a function, or an async one. It can call a compaction off, but never harm it: one that
raises, takes too long or answers nonsense is named in the receipt, and the compaction goes on.
Those that rewrite messages are there to take secrets out: what one of them fails at is neither
kept nor sent.
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
from foldline.session.fair_lock import loop_of_turn

Hook: TypeAlias = Callable[[Any], Any]
"""Gets the event; what it returns counts only before a compaction."""

Listener: TypeAlias = Callable[[Event], object]
"""Gets every event; called at once, so it has to be quick."""

Moment: TypeAlias = Literal["before", "after", "warning", "listeners", "keep", "send"]
MOMENTS: Final[tuple[Moment, ...]] = get_args(Moment)

NAME: Final = "foldline-hook"


class Cancel(Exception):
    """
    Raised, or returned, by a hook to call a compaction off.

    Args:
        reason: Why; the receipt says so.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)
        self.reason = reason


@frozen
class Hooks:
    """
    What to call when something happens to a context; each is a function or several, in order.

    Args:
        before: Get a `CompactionStarted`. One that returns False or a `Cancel`, or raises a
            `Cancel`, calls the compaction off; None and True let it go on.
        after: Get the `CompactionFinished` that belongs to it, however it ended.
        warning: Get a `ContextWarning`, once each time that a threshold is passed.
        listeners: Get every event, at once and in order; never async.
        keep: Get every wire message before it is recorded, and return what is recorded in its
            place; None leaves it as it is.
        send: Get the list of wire messages that the model is about to see, and return what is
            sent in its place; None leaves it as it is. Nothing of that is recorded.
        seconds: What each hook may take.

    A ``keep`` or ``send`` that returns False or a `Cancel`, or raises, refuses: the call that
    appends or asks for the view raises a `FoldlineError`, and nothing is recorded or sent.

    Raises:
        BudgetError: A hook cannot be called, or ``seconds`` is no number.
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
                    f"hooks.{moment} has something that cannot be called.",
                    hint="Give a function, or several.",
                )
            object.__setattr__(self, moment, calls)  # an iterator could be read but once

    def at(self, moment: Moment) -> tuple[Hook, ...]:
        """Return the functions for a moment."""
        given: Hook | Iterable[Hook] = getattr(self, moment)
        return (given,) if callable(given) else tuple(given)


def ask(hooks: Hooks, event: Event) -> tuple[str | None, tuple[str, ...]]:
    """
    Call the hooks before a compaction until one objects.

    Returns:
        Why not, None for no objection; and sentences about those that failed.
    """
    warnings: list[str] = []
    for hook in hooks.at("before"):
        answer, warning = _call(hook, event, hooks.seconds)
        if warning:
            warnings.append(warning)
        elif answer is False or isinstance(answer, Cancel):
            return f"the hook {_name(hook)} called it off{_reason(answer)}", tuple(warnings)
        elif answer is not None and answer is not True:
            warnings.append(
                f"The hook {_name(hook)} returned {answer!r:.40}, which means nothing: "
                "None goes on, False or a Cancel calls it off."
            )
    return None, tuple(warnings)


def _reason(answer: Any) -> str:
    return f": {answer.reason}" if isinstance(answer, Cancel) and answer.reason else ""


def apply_hooks(hooks: Hooks, moment: Literal["keep", "send"], value: Any) -> Any:
    """
    Return what hooks make of a message, or of the messages to send, one after the other.

    Raises:
        FoldlineError: One of them refused, or failed.
    """
    for hook in hooks.at(moment):
        answer, warning = _call(hook, value, hooks.seconds)
        if warning:
            raise FoldlineError(f"Nothing was {_DONE[moment]}. {warning}")
        if answer is False or isinstance(answer, Cancel):
            words = f"nothing was {_DONE[moment]}{_reason(answer)}"
            raise FoldlineError(f"The hook {_name(hook)} refused: {words}.")
        value = value if answer is None else answer
    return value


_DONE: Final = {"keep": "recorded", "send": "sent"}


def notify(hooks: Hooks, moment: Moment, event: Event) -> tuple[str, ...]:
    """Call hooks whose answers do not count; return a sentence for each that failed."""
    warnings = (_call(hook, event, hooks.seconds)[1] for hook in hooks.at(moment))
    return tuple(warning for warning in warnings if warning)


def notify_later(hooks: Hooks, moment: Moment, event: Event) -> None:
    """Call hooks without waiting for them, where that would keep a program from being stopped."""
    if hooks.at(moment):
        start_thread(lambda: notify(hooks, moment, event), NAME)


def _call(hook: Hook, event: Any, seconds: float) -> tuple[Any, str]:
    """Return what a hook answers, and what is wrong with it."""
    # The loop that the session is used from, unless this very thread runs it.
    loop = loop_of_turn() if running_loop() is None else None
    try:
        return run_with_timeout(lambda: _answer(hook, event, seconds, loop), seconds, NAME), ""
    except Cancel as cancel:
        return cancel, ""
    except (DeadlineExceeded, TimeoutError):
        return None, f"The hook {_name(hook)} took more than {seconds:g} seconds."
    except Exception as error:  # noqa: BLE001  # whatever it raises: the compaction goes on
        # Without keys: receipts are kept.
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
