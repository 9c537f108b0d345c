"""A set of tools that a model may call: what every such set can do, wherever its tools lie."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any, Final, TypeAlias

from foldline.core.validation import meant
from foldline.models.blocking import run
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.running import Slot, ToolSettings
from foldline.tools.spec import Tool

Call: TypeAlias = tuple[str, Any]
"""The name of a tool, and its arguments as the provider sent them."""

TOGETHER: Final = frozenset({"read", "network", "delegate"})
"""Tools that have no other label run side by side; all others alone, in the order of the calls."""


class Toolset(ABC):
    """
    Tools by name, run in one way.

    Running one never raises, a cancellation apart: what is wrong comes back as an output.
    """

    settings: ToolSettings

    @property
    @abstractmethod
    def tools(self) -> tuple[Tool, ...]:
        """The tools as they are now, in the order in which they are shown."""

    @abstractmethod
    def _found(self, name: str) -> Slot | ToolOutput:
        """Return the place of a tool, or what to say instead of running it."""

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __contains__(self, name: object) -> bool:
        return any(tool.name == name for tool in self.tools)

    def schemas(self, dialect: str) -> list[dict[str, Any]]:
        """Return all tools as a provider wants them; see `Tool.schema`."""
        return [tool.schema(dialect) for tool in self.tools]

    def has_only(self, name: str, labels: frozenset[str]) -> bool:
        """Tell whether a tool is here, has labels, and none but these."""
        found = self._found(name)
        return isinstance(found, Slot) and bool(found.tool.labels) and found.tool.labels <= labels

    # --- running ---------------------------------------------------------------------------

    def run(self, name: str, arguments: Any = None, *, seconds: float | None = None) -> ToolOutput:
        """
        Run a tool.

        Args:
            name: Its name.
            arguments: A mapping, or the JSON text that the provider sent.
            seconds: What it may take at most, if that is less than it is allowed anyway.
        """
        return run(self.arun(name, arguments, seconds=seconds))

    async def arun(
        self, name: str, arguments: Any = None, *, seconds: float | None = None
    ) -> ToolOutput:
        """Run a tool without blocking; see `run`. A cancellation leaves its breaker as it was."""
        found = self._found(name)
        return found if isinstance(found, ToolOutput) else await found.run(arguments, seconds)

    def run_all(self, calls: Sequence[Call], *, seconds: float | None = None) -> list[ToolOutput]:
        """
        Run several tools and return their outputs in the order of the calls.

        Calls in a row that only read run side by side; every other one runs alone, after those
        before it.
        """
        return run(self.arun_all(calls, seconds=seconds))

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
        """Run several tools and yield position and output of each as it ends; see `run_all`."""
        gate = asyncio.Semaphore(self.settings.parallel)
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds

        async def one(index: int) -> ToolOutput:
            async with gate:
                left = None if end is None else end - loop.time()
                return await self.arun(*calls[index], seconds=left)

        for together in self._together(calls):
            tasks = {asyncio.ensure_future(one(index)): index for index in together}
            waiting = set(tasks)
            try:
                while waiting:
                    done, waiting = await asyncio.wait(
                        waiting, return_when=asyncio.FIRST_COMPLETED
                    )
                    for task in sorted(done, key=tasks.__getitem__):
                        yield tasks[task], task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _together(self, calls: Sequence[Call]) -> Iterator[list[int]]:
        """Yield positions of calls that may run at the same time."""
        row: list[int] = []
        for index, (name, _) in enumerate(calls):
            if self.has_only(name, TOGETHER):
                row.append(index)
                continue
            if row:
                yield row
            yield [index]
            row = []
        if row:
            yield row

    def _missing(self, name: str) -> ToolOutput:
        """Say that there is no such tool, and which there are."""
        shown, names = str(name)[:60], [tool.name for tool in self.tools]
        near = meant(shown, names)
        told = f"There is no tool {shown!r}. {near}The tools are: {', '.join(names) or 'none'}."
        return ToolOutput.error(ErrorCode.NOT_FOUND, told)


class Several(Toolset):
    """
    Several sets as one; where two have a tool of the same name, that of the first one counts.

    Args:
        *sets: The sets; the first one tells how many calls run side by side.
    """

    def __init__(self, *sets: Toolset) -> None:
        self._sets = sets
        self.settings = sets[0].settings if sets else ToolSettings()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of all sets."""
        found: dict[str, Tool] = {}
        for tools in self._sets:
            for tool in tools:
                found.setdefault(tool.name, tool)
        return tuple(found.values())

    def _found(self, name: str) -> Slot | ToolOutput:
        refused: ToolOutput | None = None
        for tools in self._sets:
            found = tools._found(name)
            if isinstance(found, Slot):
                return found
            if found.code is not ErrorCode.NOT_FOUND:
                refused = refused or found
        return refused or self._missing(name)
