"""Reading a session to be looked at, from the file of an agent or from an archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from foldline.api import counter_for
from foldline.archive import Archive
from foldline.core.config import Config
from foldline.inspector.reading import APART, read_apart, read_content
from foldline.inspector.replay import Segment, archived, recorded
from foldline.inspector.trace import Source, Trace, model_named, without_wire
from foldline.models.catalogue import Catalogue
from foldline.values.messages import Message
from foldline.values.transcript import Transcript

Progress: TypeAlias = Callable[[float, str], None]


def from_file(
    path: Path,
    config: Config,
    progress: Progress,
    *,
    conversation: int | None = None,
    model: str = "",
    format: str = "auto",  # noqa: A002  # as everywhere in this library
    project: str = "",
) -> Trace:
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
    source = Source(
        title=path.name,
        agent=held.format,
        origin="file",
        place=str(path),
        project=project,
        size=status.st_size,
        changed=status.st_mtime,
        conversations=held.names,
        chosen=held.chosen,
        warnings=held.warnings,
    )
    progress(0.5, "Following what was shown")
    segments = recorded(held.segments)
    current = Transcript(
        segments[-1].messages, held.dialect, held.system, held.tools, None, held.warnings
    )
    log = {message.id: message for segment in segments for message in segment.messages}
    model = model or held.model
    return _measured(source, tuple(log.values()), segments, current, model, config, progress)


def from_archive(
    path: Path, name: str, config: Config, progress: Progress, *, model: str = ""
) -> Trace:
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
        info = next((one for one in archive.sessions() if one.head.name == name), None)
        log = archive.messages(name)
        batches = archive.compactions(name)
    model = model or (info.head.model if info else "") or model_named(log)
    light = tuple(map(without_wire, log))
    progress(0.4, "Replaying what was shown")
    segments = archived(light, batches)
    overhead = next((b.receipt.overhead for b in reversed(batches) if b.receipt.overhead), 0)
    source = Source(
        title=name,
        agent=(info.head.dialect if info else "") or "foldline",
        origin="archive",
        place=str(path),
        size=info.size if info else 0,
        changed=info.updated if info else 0.0,
    )
    current = Transcript(segments[-1].messages, source.agent)
    window = info.head.window if info else None
    return _measured(source, light, segments, current, model, config, progress, (overhead, window))


def _measured(
    source: Source,
    log: tuple[Message, ...],
    segments: tuple[Segment, ...],
    current: Transcript,
    model: str,
    config: Config,
    progress: Progress,
    stored: tuple[int, int | None] = (0, None),
) -> Trace:
    """
    Put a trace together and measure all of it, so that every page is quick afterwards.

    ``stored`` is what an archive says: the tokens that were sent besides, and the window.
    """
    besides, window = stored
    counter = counter_for(current, model or None)
    system = counter.overhead(current.system, ())
    schemas = counter.overhead("", current.tools)
    info = Catalogue.load().find(model)
    if window is not None:
        info = replace(info, window=window, resolved=True)
    trace = Trace(
        source, log, segments, current, counter, info, config, (system + besides, schemas)
    )
    progress(0.6, "Counting tokens")
    _ = trace.timeline
    _ = trace.handles, trace.positions
    progress(1.0, "Done")
    return trace
