"""Query all sources concurrently, and read their results as packets."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from time import monotonic
from typing import Any, Final

from foldline.concurrency import start_thread
from foldline.context.packets import ContextPacket
from foldline.context.settings import FLEXIBLE, SECTION_OF_TYPE, section_of
from foldline.context.sources import ContextSource, field_of
from foldline.errors import FoldlineError, InputError
from foldline.frozen import field, frozen, replace
from foldline.tools.output import ToolOutput

MOST_PACKETS: Final = 2_000
"""Maximum packets from one source."""

LISTS: Final = ("results", "packets", "hits", "memories", "chunks", "notes", "items", "documents")
TEXTS: Final = ("content", "text", "item", "memory", "chunk", "note", "record")
TIMES: Final = ("timestamp", "updated_at", "updated", "happened", "time", "created_at", "date")
SCORES: Final = ("relevance_score", "relevance")
"""Field names of text, time and relevance; a score ranks within one result only."""


class SourceFailed(FoldlineError):
    """A source returned an error."""


def packets_from(result: Any, kind: str, source: str) -> tuple[ContextPacket, ...]:
    """
    Read the result of a source.

    Only a marked error is an error; words such as "error" or "not found" in a text are text.

    Args:
        result: Packets, texts, mappings, objects with a text, a `ToolOutput`, or a list of them.
        kind: The default type of packets.
        source: Name of the source, for unnamed packets.

    Raises:
        SourceFailed: The result is marked as an error.
        InputError: Part of it is not a piece of information.
    """
    return tuple(islice(_read(result, kind, source), MOST_PACKETS))


def _read(result: Any, kind: str, source: str) -> Iterator[ContextPacket]:
    if result is None:
        return
    if isinstance(result, ContextPacket):
        yield replace(result, metadata={"source": source, **result.metadata})
    elif isinstance(result, ToolOutput):
        yield from _output(result, kind, source)
    elif isinstance(result, str):
        yield from _text(result, kind, source)
    elif isinstance(result, Mapping):
        yield from _mapping(result, kind, source)
    elif _first(result, TEXTS) is not None:
        yield _as_data(_record(result, kind, source), kind)
    elif (inside := _first(result, LISTS)) is not None or isinstance(result, Iterable):
        for item in inside if inside is not None else result:
            yield from _read(item, kind, source)
    else:
        raise InputError(
            f"A {type(result).__name__} holds no text",
            hint="Return packets, texts, or mappings with 'content'.",
        )


def _output(output: ToolOutput, kind: str, source: str) -> Iterator[ContextPacket]:
    if not output.ok:
        raise SourceFailed(output.text[:300] or f"{source} failed")
    inside = _first(output.data, LISTS)
    yield from _read(output.text if inside is None else inside, kind, source)


def _text(text: str, kind: str, source: str) -> Iterator[ContextPacket]:
    """Read a text; a JSON list or object is parsed."""
    if text.lstrip()[:1] in ("[", "{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, Mapping) and _first(value, (*LISTS, *TEXTS)) is not None:
            yield from _mapping(value, kind, source)
            return
    if text.strip():
        yield ContextPacket(text, metadata={"type": kind, "source": source})


def _mapping(value: Mapping[str, Any], kind: str, source: str) -> Iterator[ContextPacket]:
    if value.get("status") == "error" or value.get("is_error") is True:
        raise SourceFailed(str(value.get("text") or value.get("error") or source)[:300])
    inside = _first(value, LISTS)
    if inside is not None and not isinstance(inside, (str, bytes)):
        yield from _read(inside, kind, source)
    else:
        yield _as_data(_record(value, kind, source), kind)


def _as_data(packet: ContextPacket, kind: str) -> ContextPacket:
    """Return a packet as data: a search result must not declare itself a rule."""
    if section_of(packet) in (*FLEXIBLE, SECTION_OF_TYPE.get(kind)):
        return packet
    known = {k: v for k, v in packet.metadata.items() if k not in ("section", "note_type")}
    return replace(packet, metadata={**known, "type": kind})


def _record(value: Any, kind: str, source: str) -> ContextPacket:
    """Read one record; a search result that wraps one is unwrapped."""
    inner, score = _first(value, TEXTS), _first(value, SCORES)
    metadata = {"type": kind, "source": source, **_metadata(value)}
    if inner is None or isinstance(inner, str):
        return ContextPacket(
            json.dumps(value, ensure_ascii=False, default=str) if inner is None else inner,
            _first(value, TIMES),
            relevance_score=score,
            metadata=metadata,
            mandatory=field_of(value, "mandatory") is True,
        )
    found = _record(inner, kind, source)
    given = found if score is None else replace(found, relevance_score=score)
    return replace(given, metadata={**metadata, **found.metadata})


def _metadata(value: Any) -> dict[str, Any]:
    given = field_of(value, "metadata")
    out = dict(given) if isinstance(given, Mapping) else {}
    for key in ("id", "note_id", "title", "path", "document"):
        named = field_of(value, key)
        if isinstance(named, (str, int)) and str(named):
            out.setdefault(key, str(named))
    cited = field_of(value, "source")
    if isinstance(cited, str) and cited:
        out.setdefault("citation", cited)
    return out


def _first(value: Any, names: Iterable[str]) -> Any:
    return next((found for name in names if (found := field_of(value, name)) is not None), None)


@frozen
class SourceReport:
    """The result of querying a source: ``error`` is one sentence, empty on success."""

    name: str
    packets: int
    seconds: float = field(compare=False)
    error: str = ""


@frozen
class Gathered:
    """All candidates in the order of their sources, and a report per source."""

    packets: tuple[ContextPacket, ...]
    sources: tuple[SourceReport, ...] = ()


async def gather(
    query: str, sources: Sequence[ContextSource], *, seconds: float = 10.0
) -> Gathered:
    """
    Query all sources concurrently.

    Args:
        query: The query.
        sources: The sources.
        seconds: Timeout of sources without their own.

    Returns:
        The packets and reports. A source that times out is abandoned in its thread.
    """
    answers = await asyncio.gather(*(_ask_source(query, one, seconds) for one in sources))
    packets = tuple(packet for found, _ in answers for packet in found)
    return Gathered(packets, tuple(report for _, report in answers))


async def _ask_source(
    query: str, source: ContextSource, seconds: float
) -> tuple[tuple[ContextPacket, ...], SourceReport]:
    allowed = seconds if source.seconds is None else source.seconds
    began = monotonic()
    found: tuple[ContextPacket, ...] = ()
    error = ""
    try:
        async with asyncio.timeout(allowed) as limit:
            found = await _fetch(query, source)
    except Exception as failure:  # noqa: BLE001  # on any error the others continue
        late = isinstance(failure, TimeoutError) and limit.expired()
        reason = f"{type(failure).__name__}: {failure}"[:300]
        error = f"timed out after {allowed:g} seconds" if late else reason
    return found, SourceReport(source.name, len(found), monotonic() - began, error)


async def _fetch(query: str, source: ContextSource) -> tuple[ContextPacket, ...]:
    def read(result: Any) -> tuple[ContextPacket, ...]:
        found = packets_from(result, source.type, source.name)
        if not source.searches:
            return found
        return tuple(
            replace(packet, metadata={**packet.metadata, "rank": rank})
            for rank, packet in enumerate(found)
        )

    def call_source() -> Any:
        result = source.fetch(query)
        return result if inspect.isawaitable(result) else read(result)

    if _is_async(source.fetch):
        return read(await source.fetch(query))
    result = await asyncio.wrap_future(start_thread(call_source, f"foldline-source-{source.name}"))
    return read(await result) if inspect.isawaitable(result) else result


def _is_async(fetch: Callable[[str], Any]) -> bool:
    call = getattr(fetch, "__call__", None)  # noqa: B004  # the method itself is needed
    return inspect.iscoroutinefunction(fetch) or inspect.iscoroutinefunction(call)
