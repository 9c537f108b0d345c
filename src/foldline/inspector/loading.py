"""Read a session for inspection, from an agent's file or from an archive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from foldline.api import counter_for
from foldline.archive import Archive
from foldline.core.config import Config
from foldline.errors import RecallError
from foldline.frozen import replace
from foldline.inspector.file_reading import (
    APART,
    mark,
    model_named,
    read_apart,
    read_appended,
    read_content,
)
from foldline.inspector.timeline import ViewSegment, replay_archive, segment_recording
from foldline.inspector.trace import SessionEntry, SessionTrace, without_wire
from foldline.models.catalogue import Catalogue
from foldline.stores.protocol import SessionInfo
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

Progress: TypeAlias = Callable[[float, str], None]

TEXTS: Final = 1_000_000
"""Number of texts whose token counts are cached: all of a session, since every page needs them."""


def read_entry(
    entry: SessionEntry, config: Config, progress: Progress, model: str = ""
) -> SessionTrace:
    """
    Read a listed session.

    Args:
        entry: The session.
        config: The thresholds to draw, if the model's window is known.
        progress: Called with the completed fraction and the next step.
        model: The model to count and price for; "" for the session's own.

    Raises:
        InputError: The file cannot be read, or has no such conversation.
        RecallError: The archive has no such session.
        StoreError: The archive cannot be read.
    """
    read = _read_archive if entry.origin == "archive" else _read_file
    return read(entry, config, progress, model)


def _read_file(
    entry: SessionEntry, config: Config, progress: Progress, model: str
) -> SessionTrace:
    path, status = entry.place, entry.place.stat()
    progress(0.02, "Reading the file")
    held = (
        read_apart(path, entry.format, entry.conversation, progress)
        if status.st_size >= APART
        else read_content(path, entry.format, entry.conversation)
    )
    source = replace(entry, agent=held.format, size=status.st_size, changed=status.st_mtime)
    progress(0.5, "Reconstructing the views")
    segments = segment_recording(
        [tuple(map(without_wire, messages)) for messages in held.segments]
    )
    current = Transcript(
        segments[-1].messages, held.dialect, held.system, held.tools, None, held.warnings
    )
    log = {message.id: message for segment in segments for message in segment.messages}
    marked = mark(path, held.format, status.st_size)
    made = _build_trace(
        source, tuple(log.values()), segments, current, model or held.model, config
    )
    made = replace(made, mark=marked, conversations=held.names, chosen=held.chosen)
    return _prepare(made, progress)


def read_growth(trace: SessionTrace, progress: Progress) -> SessionTrace | None:
    """
    Read the messages appended to the file of a session.

    Args:
        trace: The session as previously read; shared parts are reused.
        progress: Called with the completed fraction and the next step.

    Returns:
        The updated session; None if the whole file must be read.

    Raises:
        OSError: The file cannot be read.
    """
    *earlier, last = trace.segments
    if trace.mark is None or trace.conversations:
        return None
    progress(0.02, "Reading appended messages")
    found = read_appended(trace.mark, last.messages)
    if found is None:
        return None
    messages, marked = found
    known = {message.id: message for message in last.messages}
    light = tuple(known.get(m.id) or without_wire(m) for m in messages)
    log = {message.id: message for message in (*trace.log, *light)}
    changed = known.keys() - {message.id for message in light}
    if changed:
        removed = changed - {m.id for segment in earlier for m in segment.messages}
        log = {number: m for number, m in log.items() if number not in removed}
    status = marked.path.stat()
    made = SessionTrace(
        replace(trace.source, size=status.st_size, changed=status.st_mtime),
        tuple(log.values()),
        (*earlier, replace(last, messages=light)),
        replace(trace.current, messages=light),
        trace.counter,
        trace.model,
        trace.config,
        trace.overhead,
        marked,
    )
    return _prepare(made, progress)


def _read_archive(
    entry: SessionEntry, config: Config, progress: Progress, model: str
) -> SessionTrace:
    name = entry.name
    progress(0.02, "Reading the archive")
    with Archive.open(entry.place) as archive:
        log = archive.messages(name)
        batches = archive.compactions(name)
        info = next((one for one in archive.sessions() if one.head.name == name), None)
    if info is None:
        raise RecallError(f"There is no session {name!r}.", hint="It was deleted in the meantime.")
    light = tuple(map(without_wire, log))
    progress(0.4, "Replaying the views")
    segments = replay_archive(light, batches)
    overhead = next((b.receipt.overhead for b in reversed(batches) if b.receipt.overhead), 0)
    source = replace(archive_entry(entry.place, info), project="")
    current = Transcript(segments[-1].messages, source.agent)
    model = model or info.head.model or model_named(log)
    made = _build_trace(source, light, segments, current, model, config)
    made = replace(made, overhead=(made.overhead[0] + overhead, made.overhead[1]))
    if info.head.window is not None:
        known = replace(made.model, window=info.head.window, resolved=True)
        made = replace(made, model=known)
    return _prepare(made, progress)


def archive_entry(path: Path, info: SessionInfo) -> SessionEntry:
    """Return the list entry of an archived session."""
    head = info.head
    agent = head.dialect or "foldline"
    return SessionEntry(
        head.name, agent, "archive", path, head.name, str(path), info.size, info.updated
    )


def _build_trace(
    source: SessionEntry,
    log: tuple[Message, ...],
    segments: tuple[ViewSegment, ...],
    current: Transcript,
    model: str,
    config: Config,
) -> SessionTrace:
    counter = counter_for(current, model or None)
    counter.entries = TEXTS
    around = (counter.overhead(current.system, ()), counter.overhead("", current.tools))
    info = Catalogue.load().find(model)
    return SessionTrace(source, log, segments, current, counter, info, config, around)


def _prepare(trace: SessionTrace, progress: Progress) -> SessionTrace:
    """Measure a whole session, so that every page is fast afterwards."""
    progress(0.6, "Counting tokens")
    _ = trace.timeline, trace.handles, trace.positions
    progress(1.0, "Done")
    return trace
