"""Toolsets, and how every tool runs: circuit breaker, timeout, bounded output."""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Final, TypeAlias

from foldline.concurrency import run_blocking, start_thread
from foldline.core.limits import Breaker
from foldline.core.validation import positive, whole
from foldline.frozen import frozen, replace
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool, ToolCollection

FAILURES: Final = frozenset(
    {ErrorCode.EXECUTION, ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE, ErrorCode.INTERNAL}
)
"""Errors that count as failures of the tool; others are errors of the caller."""

HEAD: Final = 0.4
"""The share of a bounded text that is taken from its start; the rest is its end."""


@frozen
class ToolSettings:
    """
    Limits of tool calls.

    A call times out after ``seconds``. Up to ``parallel`` calls run concurrently. The text of an
    output has at most ``longest`` characters. A tool that failed ``failures`` times in a row is
    paused for ``pause`` seconds and then retried once; 0 ``failures`` disables this.

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

    def new_breaker(self) -> Breaker:
        """Return the initial circuit breaker of a tool."""
        return Breaker(self.failures, self.pause)


@dataclass(slots=True)
class Slot:
    """A tool and its circuit breaker; ``seconds`` is the timeout of a call."""

    tool: Tool
    seconds: float
    breaker: Breaker
    settings: ToolSettings
    clock: Callable[[], float]
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    async def run(self, arguments: Any, most: float | None = None) -> ToolOutput:
        """
        Run the tool; only cancellation is raised.

        Args:
            arguments: A mapping, or the JSON text that the provider sent.
            most: A shorter timeout in seconds.
        """
        before = self._begin()
        if isinstance(before, ToolOutput):
            return before
        seconds = self.seconds if most is None else min(self.seconds, max(0.0, most))
        try:
            output = await _run_within(self.tool, arguments, seconds)
        except BaseException:
            with self._lock:  # a cancelled trial may be repeated at once
                if self.breaker.failures == before.failures:
                    self.breaker = before
            raise
        with self._lock:
            success = output.code not in FAILURES
            if not success or self.breaker.failures:
                self.breaker = self.breaker.after(success, self.clock())
        return bound_output(output, self.settings.longest)

    def set(self, breaker: Breaker) -> None:
        """Replace the breaker."""
        with self._lock:
            self.breaker = breaker

    def _begin(self) -> Breaker | ToolOutput:
        """Return the breaker before this call, or the reason why the call is refused."""
        with self._lock:
            before, now = self.breaker, self.clock()
            if not self.settings.failures or before.state(now) == "closed":
                return before
            if before.allows(now):
                self.breaker = before.trying(now)
                return before
            name, left = self.tool.name, before.wait(now)
        message = (
            f"{name} was not run: it failed {before.failures} times in a row "
            f"and is paused for another {left:.0f} seconds. Continue without it, or retry later."
        )
        return ToolOutput.error(ErrorCode.UNAVAILABLE, message, paused=left)


LOOK: Final = "It may still have had an effect: check before calling it again."


async def _run_within(tool: Tool, arguments: Any, seconds: float) -> ToolOutput:
    """Run a tool with a timeout; a call that does not end in time is abandoned."""
    task = asyncio.ensure_future(_run(tool, arguments))
    try:
        await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        _leave(task)
        raise
    if task.done() and not task.cancelled():
        return task.result()
    if task.cancelled():
        return ToolOutput.error(ErrorCode.CANCELLED, f"{tool.name} cancelled itself.")
    _leave(task)
    message = f"{tool.name} timed out after {seconds:g} seconds. {LOOK}"
    return ToolOutput.error(ErrorCode.TIMEOUT, message, seconds=seconds)


async def _run(tool: Tool, arguments: Any) -> ToolOutput:
    if tool.async_action is not None:
        return await tool.arun(arguments)
    # In a daemon thread. It starts here, not where the task is created: a task that is cancelled
    # before its turn must have no effect.
    call = start_thread(partial(tool.run, arguments), f"foldline-tool-{tool.name}")
    return await asyncio.wrap_future(call)


def _leave(task: asyncio.Future[ToolOutput]) -> None:
    task.cancel()
    # Its later errors are ignored: the timeout was reported already.
    task.add_done_callback(lambda late: late.cancelled() or late.exception())


def bound_output(output: ToolOutput, longest: int) -> ToolOutput:
    """Return an output whose text is valid Unicode of at most ``longest`` characters."""
    text = output.text
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) > longest:
        note = f"\n[… {len(text):,} characters in all: the middle was omitted …]\n"
        room = max(0, longest - len(note))
        head = int(room * HEAD)
        text = f"{text[:head]}{note}{text[len(text) - (room - head) :]}"
    return output if text == output.text else replace(output, text=text)


Call: TypeAlias = tuple[str, Any]
"""The name of a tool, and its arguments as the provider sent them."""

TOGETHER: Final = frozenset({"read", "network", "delegate"})
"""Tools with no other label run concurrently; all others alone, in the order of the calls."""


class Toolset(ToolCollection):
    """
    Tools by name.

    Running one raises nothing but cancellation: errors are returned as an output.
    """

    settings: ToolSettings

    @abstractmethod
    def _find(self, name: str) -> Slot | ToolOutput:
        """Return the slot of a tool, or the error output to return instead of running it."""

    def has_only(self, name: str, labels: frozenset[str]) -> bool:
        """Return True if a tool exists, and has labels, all of them among these."""
        found = self._find(name)
        return isinstance(found, Slot) and bool(found.tool.labels) and found.tool.labels <= labels

    # --- running ---------------------------------------------------------------------------

    def run(self, name: str, arguments: Any = None, *, seconds: float | None = None) -> ToolOutput:
        """
        Run a tool.

        Args:
            name: The name of the tool.
            arguments: A mapping, or the JSON text that the provider sent.
            seconds: A shorter timeout in seconds.
        """
        return run_blocking(self.arun(name, arguments, seconds=seconds))

    async def arun(
        self, name: str, arguments: Any = None, *, seconds: float | None = None
    ) -> ToolOutput:
        """Run a tool without blocking; see `run`. Cancellation does not change its breaker."""
        found = self._find(name)
        return found if isinstance(found, ToolOutput) else await found.run(arguments, seconds)

    def run_all(self, calls: Sequence[Call], *, seconds: float | None = None) -> list[ToolOutput]:
        """
        Run several tools and return their outputs in the order of the calls.

        Consecutive calls that only read run concurrently; every other call runs alone, after the
        earlier ones.
        """
        return run_blocking(self.arun_all(calls, seconds=seconds))

    async def arun_all(
        self, calls: Sequence[Call], *, seconds: float | None = None
    ) -> list[ToolOutput]:
        """Run several tools without blocking; see `run_all`."""
        async with aclosing(self.arun_each(calls, seconds=seconds)) as each:
            outputs = {index: output async for index, output in each}
        return [outputs[index] for index in range(len(calls))]

    async def arun_each(
        self, calls: Sequence[Call], *, seconds: float | None = None
    ) -> AsyncGenerator[tuple[int, ToolOutput], None]:
        """Run several tools, and yield the index and output of each as it ends; see `run_all`."""
        gate = asyncio.Semaphore(self.settings.parallel)
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds

        async def one(index: int) -> ToolOutput:
            async with gate:
                left = None if end is None else end - loop.time()
                return await self.arun(*calls[index], seconds=left)

        for together in self._together(calls):
            tasks = {asyncio.ensure_future(one(index)): index for index in together}
            waiting, soonest = set(tasks), asyncio.FIRST_COMPLETED
            try:
                while waiting:
                    done, waiting = await asyncio.wait(waiting, return_when=soonest)
                    for task in sorted(done, key=tasks.__getitem__):
                        yield tasks[task], task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _together(self, calls: Sequence[Call]) -> Iterator[list[int]]:
        """Yield groups of indexes of calls that may run concurrently."""

        def looks(index: int) -> bool:
            """Check only at its turn: an earlier call may register another tool."""
            return self.has_only(calls[index][0], TOGETHER)

        for together, positions in groupby(range(len(calls)), looks):
            if together:
                yield list(positions)
            else:
                yield from ([index] for index in positions)


class CombinedToolset(Toolset):
    """
    Several toolsets as one; for duplicate names the first toolset counts.

    Args:
        *sets: The toolsets; the settings of the first one limit concurrent calls.
    """

    def __init__(self, *sets: Toolset) -> None:
        self._sets = sets
        self.settings = sets[0].settings if sets else ToolSettings()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all toolsets."""
        found: dict[str, Tool] = {}
        for tools in self._sets:
            for tool in tools:
                found.setdefault(tool.name, tool)
        return tuple(found.values())

    def _find(self, name: str) -> Slot | ToolOutput:
        refused: ToolOutput | None = None
        for tools in self._sets:
            found = tools._find(name)
            if isinstance(found, Slot):
                return found
            if found.code is not ErrorCode.NOT_FOUND:
                refused = refused or found
        return refused or self._missing(name)
