"""
One way to run a tool, for every tool: its breaker is asked, its time is limited, its text bounded.

A slot is the place of a tool in a registry, with what happened to it lately.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from foldline.core.circuit_breaker import Breaker
from foldline.core.validation import positive, whole
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool
from foldline.tools.timely import started

FAILURES: Final = frozenset(
    {ErrorCode.EXECUTION, ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE, ErrorCode.INTERNAL}
)
"""Errors that say something about the tool; the others are about what it was asked."""

HEAD: Final = 0.4
"""The share of a text that is too long which is kept from its beginning; the rest is its end."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """
    How tools are run.

    A call may take ``seconds`` seconds. Up to ``parallel`` calls run side by side. The text of an
    output has at most ``longest`` characters. A tool that failed ``failures`` times in a row is
    paused for ``pause`` seconds and then tried once; with 0 ``failures`` none ever is.

    Raises:
        BudgetError: A number is out of range.
    """

    seconds: float = 120.0
    parallel: int = 4
    longest: int = 1_000_000
    failures: int = 3
    pause: float = 300.0

    def __post_init__(self) -> None:
        positive("tools.seconds", self.seconds)
        whole("tools.parallel", self.parallel, 1)
        whole("tools.longest", self.longest, 1_000)
        whole("tools.failures", self.failures)
        positive("tools.pause", self.pause)

    def closed(self) -> Breaker:
        """Return the breaker of a tool to which nothing has happened."""
        return Breaker(self.failures, self.pause)


@dataclass(slots=True)
class Slot:
    """A tool and its breaker; ``seconds`` is the time of one call."""

    tool: Tool
    seconds: float
    breaker: Breaker
    settings: ToolSettings
    clock: Callable[[], float]
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    async def run(self, arguments: Any, most: float | None = None) -> ToolOutput:
        """
        Run the tool; nothing but a cancellation is raised.

        Args:
            arguments: A mapping, or the JSON text that the provider sent.
            most: Seconds that the call may take at most, whatever the slot allows.
        """
        before = self._begin()
        if isinstance(before, ToolOutput):
            return before
        seconds = self.seconds if most is None else min(self.seconds, max(0.0, most))
        try:
            output = await _within(self.tool, arguments, seconds)
        except BaseException:
            self._take_back(before)
            raise
        self._end(output)
        return bounded(output, self.settings.longest)

    def set(self, breaker: Breaker) -> None:
        """Put another breaker in the place of this one."""
        with self._lock:
            self.breaker = breaker

    def _begin(self) -> Breaker | ToolOutput:
        """Return the breaker as it was before this call, or why there is none."""
        with self._lock:
            before, now = self.breaker, self.clock()
            if not self.settings.failures or before.state(now) == "closed":
                return before
            if before.allows(now):
                self.breaker = before.trying(now)
                return before
            name, left = self.tool.name, before.wait(now)
        told = (
            f"{name} was not run: it failed {before.failures} times in a row and is paused for "
            f"another {left:.0f} seconds. Do without it, or try again later."
        )
        return ToolOutput.error(ErrorCode.UNAVAILABLE, told, paused=left)

    def _end(self, output: ToolOutput) -> None:
        with self._lock:
            success = output.code not in FAILURES
            if not success or self.breaker.failures:
                self.breaker = self.breaker.after(success, self.clock())

    def _take_back(self, before: Breaker) -> None:
        """Forget a trial that was cancelled, so that another one may be made at once."""
        with self._lock:
            if self.breaker.failures == before.failures:
                self.breaker = before


async def _within(tool: Tool, arguments: Any, seconds: float) -> ToolOutput:
    """Run a tool for so many seconds; what does not end by then is left to itself."""
    task = asyncio.ensure_future(_work(tool, arguments))
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        _leave(task)
        raise
    if task.done() and not task.cancelled():
        return task.result()
    if task.cancelled():
        return ToolOutput.error(ErrorCode.CANCELLED, f"{tool.name} called itself off.")
    _leave(task)
    told = (
        f"{tool.name} was given up after {seconds:g} seconds. It may still have had an effect: "
        "look before you call it again."
    )
    return ToolOutput.error(ErrorCode.TIMEOUT, told, seconds=seconds)


def _work(tool: Tool, arguments: Any) -> Coroutine[Any, Any, ToolOutput]:
    if tool.async_action is not None:
        return tool.arun(arguments)
    return _aside(partial(tool.run, arguments), tool.name)


async def _aside(call: Callable[[], ToolOutput], name: str) -> ToolOutput:
    """Await a call in a thread that does not keep the program from ending."""
    return await asyncio.wrap_future(started(call, f"foldline-tool-{name}"))


def _leave(task: asyncio.Future[ToolOutput]) -> None:
    task.cancel()
    # Whatever it still raises was told already.
    task.add_done_callback(lambda late: late.cancelled() or late.exception())


def bounded(output: ToolOutput, longest: int) -> ToolOutput:
    """Return an output whose text is valid Unicode and has at most so many characters."""
    text = output.text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) > longest:
        note = f"\n[… {len(text):,} characters in all: the middle was left out …]\n"
        room = max(0, longest - len(note))
        head = int(room * HEAD)
        text = f"{text[:head]}{note}{text[len(text) - (room - head) :]}"
    return output if text == output.text else replace(output, text=text)
