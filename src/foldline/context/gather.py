"""Gather: ask all sources at once; one that fails or is late is reported, and the rest go on."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from foldline.context.packets import ContextPacket
from foldline.context.readings import packets_from
from foldline.context.sources import Source
from foldline.timeouts import start_thread


@dataclass(frozen=True, slots=True)
class SourceReport:
    """How asking a source went: ``error`` is one sentence, empty when it answered."""

    name: str
    packets: int
    seconds: float = field(compare=False)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Gathered:
    """All candidates, in the order of their sources, and how each source did."""

    packets: tuple[ContextPacket, ...]
    sources: tuple[SourceReport, ...] = ()


async def gather(
    query: str,
    sources: Sequence[Source],
    *,
    seconds: float = 10.0,
    clock: Callable[[], float] = monotonic,
) -> Gathered:
    """
    Ask all sources at the same time.

    Args:
        query: What the context is for.
        sources: Whom to ask.
        seconds: The time that a source has which does not say so itself.
        clock: Tells the time, in seconds.

    Returns:
        What they gave. A source that takes too long is left behind in its thread.
    """
    answers = await asyncio.gather(*(_asked(query, one, seconds, clock) for one in sources))
    packets = tuple(packet for found, _ in answers for packet in found)
    return Gathered(packets, tuple(report for _, report in answers))


async def _asked(
    query: str, source: Source, seconds: float, clock: Callable[[], float]
) -> tuple[tuple[ContextPacket, ...], SourceReport]:
    allowed = seconds if source.seconds is None else source.seconds
    began = clock()
    found: tuple[ContextPacket, ...] = ()
    error = ""
    try:
        async with asyncio.timeout(allowed) as limit:
            found = await _fetched(query, source)
    except Exception as failure:  # noqa: BLE001  # whatever it raises: the others go on
        late = isinstance(failure, TimeoutError) and limit.expired()
        told = f"{type(failure).__name__}: {failure}"[:300]
        error = f"gave no answer in {allowed:g} seconds" if late else told
    return found, SourceReport(source.name, len(found), clock() - began, error)


async def _fetched(query: str, source: Source) -> tuple[ContextPacket, ...]:
    def read(result: Any) -> tuple[ContextPacket, ...]:
        found = packets_from(result, source.type, source.name)
        if not source.searches:
            return found
        return tuple(
            replace(packet, metadata={**packet.metadata, "rank": rank})
            for rank, packet in enumerate(found)
        )

    def asked() -> Any:
        result = source.fetch(query)
        return result if inspect.isawaitable(result) else read(result)

    if _is_async(source.fetch):
        return read(await source.fetch(query))
    result = await asyncio.wrap_future(start_thread(asked, f"foldline-source-{source.name}"))
    return read(await result) if inspect.isawaitable(result) else result


def _is_async(fetch: Callable[[str], Any]) -> bool:
    call = getattr(fetch, "__call__", None)  # noqa: B004  # the method itself is wanted
    return inspect.iscoroutinefunction(fetch) or inspect.iscoroutinefunction(call)
