"""Reading a session to be looked at, from the file of an agent or from an archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from foldline.api import counter_for
from foldline.archive import Archive
from foldline.core.config import Config
from foldline.errors import RecallError
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
"""Texts whose tokens are remembered: all of a session, as every page asks for them again."""


def from_file(
    path: Path,
    config: Config,
    progress: Progress,
    *,
    conversation: int | None = None,
    model: str = "",
    format: str = "auto",  # noqa: A002  # as everywhere in this library
    project: str = "",
) -> SessionTrace:
    """
    Read the transcript file of an agent.

    Args:
        path: The file.
        config: The thresholds that are drawn, where the model's window is known.
        progress: Is told a fraction of the work and what comes next.
        conversation: Which of several, from 0; None for the last.
        model: The model to count and price for; "" for the one that the file names.
        format: What the file is.
        project: The folder that the agent worked in, where it is known.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    status = path.stat()
    progress(0.02, "Reading the file")
    held = (
        read_apart(path, format, conversation, progress)
        if status.st_size >= APART
        else read_content(path, format, conversation)
    )
    source = SessionEntry(
        path.name, held.format, "file", path, "", project, status.st_size, status.st_mtime
    )
    progress(0.5, "Following what was shown")
    segments = segment_recording(
        [tuple(map(without_wire, messages)) for messages in held.segments]
    )
    current = Transcript(
        segments[-1].messages, held.dialect, held.system, held.tools, None, held.warnings
    )
    log = {message.id: message for segment in segments for message in segment.messages}
    model = model or held.model
    marked = mark(path, held.format, status.st_size)
    made = _build_trace(source, tuple(log.values()), segments, current, model, config)
    made = replace(made, mark=marked, conversations=held.names, chosen=held.chosen)
    return _prepare(made, progress)


def read_growth(trace: SessionTrace, progress: Progress) -> SessionTrace | None:
    """
    Read what was appended to the file of a session.

    Args:
        trace: The session as it was read before; what it shares with the new one is kept.
        progress: Is told a fraction of the work and what comes next.

    Returns:
        The session now; None where its file has to be read as a whole.

    Raises:
        OSError: The file cannot be read.
    """
    *earlier, last = trace.segments
    if trace.mark is None or trace.conversations:
        return None
    progress(0.02, "Reading what was appended")
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


def from_archive(
    path: Path, name: str, config: Config, progress: Progress, *, model: str = ""
) -> SessionTrace:
    """
    Read a session of an archive.

    Args:
        path: The archive.
        name: The session.
        config: The thresholds that are drawn.
        progress: Is told a fraction of the work and what comes next.
        model: The model to count and price for; "" for the one that the session names.

    Raises:
        RecallError: There is no session of this name.
        StoreError: The archive cannot be read.
    """
    progress(0.02, "Reading the archive")
    with Archive.open(path) as archive:
        log = archive.messages(name)
        batches = archive.compactions(name)
        info = next((one for one in archive.sessions() if one.head.name == name), None)
    if info is None:
        raise RecallError(f"There is no session {name!r}.", hint="Somebody has just deleted it.")
    light = tuple(map(without_wire, log))
    progress(0.4, "Replaying what was shown")
    segments = replay_archive(light, batches)
    overhead = next((b.receipt.overhead for b in reversed(batches) if b.receipt.overhead), 0)
    source = replace(archive_entry(path, info), project="")
    current = Transcript(segments[-1].messages, source.agent)
    model = model or info.head.model or model_named(log)
    made = _build_trace(source, light, segments, current, model, config)
    made = replace(made, overhead=(made.overhead[0] + overhead, made.overhead[1]))
    if info.head.window is not None:
        known = replace(made.model, window=info.head.window, resolved=True)
        made = replace(made, model=known)
    return _prepare(made, progress)


def archive_entry(path: Path, info: SessionInfo) -> SessionEntry:
    """Return how a session of an archive is listed."""
    head = info.head
    agent = head.dialect or "foldline"
    return SessionEntry(
        head.name, agent, "archive", path, head.name, str(path), info.size, info.updated
    )


def read_entry(
    entry: SessionEntry, config: Config, progress: Progress, model: str = ""
) -> SessionTrace:
    """Read a session that was listed; see `from_file` and `from_archive`."""
    if entry.origin == "archive":
        return from_archive(entry.place, entry.name, config, progress, model=model)
    return from_file(
        entry.place,
        config,
        progress,
        conversation=entry.conversation,
        model=model,
        format=entry.format,
        project=entry.project,
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
    """Measure all of a session, so that every page is quick afterwards."""
    progress(0.6, "Counting tokens")
    _ = trace.timeline, trace.handles, trace.positions
    progress(1.0, "Done")
    return trace
