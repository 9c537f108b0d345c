"""Reading what sources return: packets, records, search results, tool outputs, plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from foldline.context.packets import ContextPacket
from foldline.context.places import PLACE_OF_TYPE, place_of
from foldline.context.settings import FLEXIBLE
from foldline.errors import FoldlineError, InputError
from foldline.tools.output import ToolOutput

MOST_PACKETS: Final = 2_000
"""Packets that are taken from one source."""

LISTS: Final = ("results", "packets", "hits", "memories", "chunks", "notes", "items", "documents")
TEXTS: Final = ("content", "text", "item", "memory", "chunk", "note", "record")
TIMES: Final = ("timestamp", "updated_at", "updated", "happened", "time", "created_at", "date")
SCORES: Final = ("relevance_score", "relevance")
"""Where the text, the time and a relevance may stand; a score ranks within one answer only."""


class SourceFailed(FoldlineError):
    """A source answered that something went wrong."""


def packets_from(result: Any, kind: str, source: str) -> tuple[ContextPacket, ...]:
    """
    Read what a source returned.

    An error is what is marked as one; words such as "error" or "not found" in a text are text.

    Args:
        result: Packets, texts, mappings, objects with a text, a `ToolOutput`, or a list of them.
        kind: The type of packets that do not tell theirs.
        source: Name of the source; for packets that have no name.

    Raises:
        SourceFailed: The result is marked as an error.
        InputError: Something in it is no piece of information.
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
            f"a {type(result).__name__} holds no text that could be shown",
            hint="Return packets, texts, or mappings with 'content'.",
        )


def _output(output: ToolOutput, kind: str, source: str) -> Iterator[ContextPacket]:
    if not output.ok:
        raise SourceFailed(output.text[:300] or f"{source} failed")
    inside = _first(output.data, LISTS)
    yield from _read(output.text if inside is None else inside, kind, source)


def _text(text: str, kind: str, source: str) -> Iterator[ContextPacket]:
    """Read a text; one that is a JSON list or object is what it says."""
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
    """Return a record where data stands: what was found does not say that it is a rule."""
    if place_of(packet) in (*FLEXIBLE, PLACE_OF_TYPE.get(kind)):
        return packet
    known = {k: v for k, v in packet.metadata.items() if k not in ("section", "note_type")}
    return replace(packet, metadata={**known, "type": kind})


def _record(value: Any, kind: str, source: str) -> ContextPacket:
    """Read one record; a search result that wraps one is unwrapped."""
    inner = _first(value, TEXTS)
    metadata = {"type": kind, "source": source, **_metadata(value)}
    if inner is not None and not isinstance(inner, str):
        found = _record(inner, kind, source)
        score = _first(value, SCORES)
        given = found if score is None else replace(found, relevance_score=score)
        return replace(given, metadata={**metadata, **found.metadata})
    if inner is None:
        inner = json.dumps(value, ensure_ascii=False, default=str)
    score = _first(value, SCORES)
    return ContextPacket(
        inner,
        _first(value, TIMES),
        relevance_score=score,
        metadata=metadata,
        mandatory=_field(value, "mandatory") is True,
    )


def _metadata(value: Any) -> dict[str, Any]:
    given = _field(value, "metadata")
    out = dict(given) if isinstance(given, Mapping) else {}
    for key in ("id", "note_id", "title", "path", "document"):
        named = _field(value, key)
        if isinstance(named, (str, int)) and str(named):
            out.setdefault(key, str(named))
    cited = _field(value, "source")
    if isinstance(cited, str) and cited:
        out.setdefault("citation", cited)
    return out


def _first(value: Any, names: Iterable[str]) -> Any:
    return next((found for name in names if (found := _field(value, name)) is not None), None)


def _field(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    found = None if isinstance(value, (str, bytes, list, tuple)) else getattr(value, name, None)
    return None if callable(found) else found
