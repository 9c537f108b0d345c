"""Sources: whatever can be asked for packets; tools, stores, folders, functions."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from foldline.context.packets import ContextPacket
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.values.messages import Message as Recorded
from foldline.values.messages import visible_texts

MOST_HISTORY: Final = 10_000
"""Messages of a conversation that are looked at, the newest."""

MOST_BYTES: Final = 256_000
"""Bytes of a file that are read."""

MOST_FILES: Final = 500

IMPORTANT: Final = 5
"""So many memories are candidates for what they matter, whatever is asked."""

IMPORTANCE: Final = 0.7
"""How important these are at least."""

STANDING: Final = 0.5
"""What their relevance is of their importance."""

STORES: Final = ("memory", "knowledge", "notes")
"""What a tool may call the store that it works on."""

PEEK: Final = 200
"""Bytes of a file that a reference to it quotes."""


@frozen
class ContextSource:
    """
    Something that can be asked for information about a query.

    Args:
        name: How reports call it.
        fetch: Gets the query and returns packets, or anything that
            `foldline.context.gathering.packets_from` reads; an ordinary function, which runs in a
            thread, or an async one.
        type: The type of packets that do not name theirs.
        seconds: The time that it has; None for that of the configuration.
        searches: Whether it gives what it found for the query, the best first; that counts as a
            reason to take it, even where its words are others than those of the query.
    """

    name: str
    fetch: Callable[[str], Any] = field(repr=False)
    type: str = "general"
    seconds: float | None = None
    searches: bool = False


def source(thing: Any, name: str = "", kind: str = "") -> ContextSource:
    """
    Make a source of a tool, a store or a function.

    Args:
        thing: A `ContextSource`; an object with ``packets(query)``,
            ``execute("search", query=…)`` or ``search(query)``; or a function of the query.
        name: How reports call it; default the name of its class or function.
        kind: The type of its packets.

    Raises:
        InputError: It cannot be asked for anything.
    """
    if isinstance(thing, ContextSource):
        return thing
    called = name or getattr(thing, "__name__", "") or type(thing).__name__
    for method in ("packets", "search"):
        fetch = getattr(thing, method, None)
        if callable(fetch):
            return ContextSource(called, fetch, kind or "general", searches=True)
    if callable(getattr(thing, "execute", None)):
        return _tool(thing, called, kind or "general")
    if callable(thing):
        return ContextSource(called, thing, kind or "general", searches=True)
    raise InputError(
        f"a {type(thing).__name__} cannot be asked for packets",
        field="sources",
        hint="Give a function of the query, or an object with packets(query) or search(query).",
    )


def memory_source(tool: Any) -> ContextSource:
    """
    Make a source of a memory tool, which is searched for ten memories of some importance.

    The five most important ones are candidates as well, whatever is asked: how far the work is
    and what was decided seldom shares a word with the next question.
    """
    found = _tool(tool, "memory", "memory", limit=10, min_importance=0.3)
    inner = getattr(tool, "memory", tool)
    listing = getattr(inner, "items", None)
    if not callable(listing) or "min_importance" not in inspect.signature(listing).parameters:
        return found

    def fetch(query: str) -> list[Any]:
        hits = list(found.fetch(query))
        known = {getattr(getattr(hit, "item", hit), "id", None) for hit in hits}
        standing = listing(limit=IMPORTANT, min_importance=IMPORTANCE, order="importance")
        return [*hits, *(_standing(item) for item in standing if item.id not in known)]

    return replace(found, fetch=fetch)


def _standing(item: Any) -> ContextPacket:
    """Make a packet of a memory that matters beside any question, but less than an answer."""
    metadata = {**item.metadata, "type": "memory", "source": "memory", "id": item.id}
    relevance = item.importance * STANDING
    return ContextPacket(item.content, item.happened, relevance_score=relevance, metadata=metadata)


def knowledge_source(tool: Any) -> ContextSource:
    """Make a source of a knowledge tool, which is searched for five passages."""
    return _tool(tool, "knowledge", "rag_result", limit=5, min_score=0.3)


def _tool(tool: Any, name: str, kind: str, **settings: Any) -> ContextSource:
    """Make a source of a tool; of the store in it where it shows one: a text loses fields."""
    for inner in (getattr(tool, store, None) for store in STORES):
        found = getattr(inner, "packets", None) or getattr(inner, "search", None)
        if callable(found):
            known = inspect.signature(found).parameters
            given = {key: value for key, value in settings.items() if key in known}
            return ContextSource(name, partial(found, **given), kind, searches=True)
    if not callable(getattr(tool, "execute", None)):
        return source(tool, name, kind)

    def fetch(query: str) -> Any:
        return tool.execute("search", query=query, **settings)

    return ContextSource(name, fetch, kind, searches=True)


def history(messages: Iterable[Any]) -> tuple[ContextPacket, ...]:
    """
    Make packets of a conversation, one for each message that says something.

    Args:
        messages: `HistoryMessage` values, messages of a transcript, mappings with "role" and
            "content", or any objects that have these.

    Raises:
        InputError: One of them is no message; the error names it.
    """
    rows = [(index, *_read_message(message, index)) for index, message in enumerate(messages)]
    return tuple(
        ContextPacket(
            f"{role}: {text}",
            when,
            metadata={"type": "conversation_history", "role": role, "position": index},
        )
        for index, role, text, when in rows[-MOST_HISTORY:]
        if text.strip()
    )


def _read_message(message: Any, index: int) -> tuple[str, str, Any]:
    if isinstance(message, Recorded):
        return message.role, "\n".join(visible_texts(message)), None
    names = ("role", "content", "timestamp")
    if isinstance(message, Mapping):
        role, content, when = map(message.get, names)
    else:
        role, content, when = (getattr(message, name, None) for name in names)
    text = content if isinstance(content, str) else "\n".join(_blocks(content))
    if not isinstance(role, str) or (content is None and not isinstance(message, Mapping)):
        raise InputError("this is not a message: it has no role or no content", index=index)
    return role, text, when


def field_of(value: Any, name: str) -> Any:
    """Return an entry of a mapping, or what an object has of this name; None where it has none."""
    if isinstance(value, Mapping):
        return value.get(name)
    found = None if isinstance(value, (str, bytes, list, tuple)) else getattr(value, name, None)
    return None if callable(found) else found


def _blocks(content: Any) -> Iterator[str]:
    for block in content if isinstance(content, (list, tuple)) else ():
        text = block.get("text") if isinstance(block, Mapping) else block
        if isinstance(text, str):
            yield text


def files(paths: Iterable[str | os.PathLike[str]]) -> ContextSource:
    """Make a source that loads whole files, each a packet; binary files are left out."""
    chosen = tuple(Path(path) for path in paths)
    return ContextSource("files", lambda _: [*_load(chosen, MOST_BYTES)], "file")


def references(paths: Iterable[str | os.PathLike[str]]) -> ContextSource:
    """
    Make a source of references to files: path, size, first words; for tools to load later.

    This is the just-in-time half: a reference costs some twenty tokens, whatever the file costs.
    """
    chosen = tuple(Path(path) for path in paths)

    def list_files(_: str) -> list[ContextPacket]:
        lines = []
        for packet in _load(chosen, PEEK):
            first = next(
                (line.strip() for line in packet.content.splitlines() if line.strip()), ""
            )
            path, size = packet.metadata["path"], packet.metadata["bytes"]
            lines.append(f"{path} ({size:,} bytes): {first[:80]}")
        listed = "\n".join(lines)
        return [ContextPacket(listed, metadata={"type": "references"})] if listed else []

    return ContextSource("references", list_files, "references")


def _load(paths: Iterable[Path], most: int) -> Iterator[ContextPacket]:
    for path in [*_walk(paths)][:MOST_FILES]:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  # a descriptor
            status = os.fstat(file.fileno())
            data = file.read(most)
        if b"\0" in data:
            continue
        yield ContextPacket(
            data.decode("utf-8", "replace"),
            status.st_mtime,
            metadata={"type": "file", "path": str(path), "bytes": status.st_size},
        )


def _walk(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield regular files, those of folders in order; hidden ones and links inside are left."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                inside
                for inside in path.rglob("*")
                if inside.is_file()
                and not inside.is_symlink()
                and not any(part.startswith(".") for part in inside.relative_to(path).parts)
            )
        elif path.is_file():
            yield path
        else:
            raise InputError(
                f"{path} is not a file that can be read", hint="Name files or folders."
            )
