"""Reading a session to be looked at, from the file of an agent or from an archive."""

from __future__ import annotations

import gc
import re
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from foldline.app import counter_for
from foldline.archive import Archive
from foldline.core.config import Config
from foldline.core.errors import InputError
from foldline.core.messages import Message
from foldline.core.transcript import Transcript
from foldline.formats.files import read_file
from foldline.formats.recording import Conversation, Recording
from foldline.inspector.replay import Segment, archived, recorded
from foldline.inspector.trace import Source, Trace, model_named, without_wire
from foldline.models.catalogue import Catalogue

Progress: TypeAlias = Callable[[float, str], None]

SEGMENT: Final = "segment "
"""How the conversations are named into which an agent's own compactions divide a session."""


HEAD: Final = 256 * 1024
"""Bytes at the beginning of a file in which the name of the model is looked for."""

_MODEL: Final = re.compile(r'"model"\s{0,4}:\s{0,4}"([A-Za-z][\w./:@-]{1,99})"')


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
    recording = read_file(path, format=format)
    chosen, parts = _chosen(recording, conversation)
    current = parts[-1].transcript
    named = (model_named(part.transcript.messages) for part in reversed(parts))
    model = model or next(filter(None, named), "") or _model_in(path)
    names = () if len(parts) > 1 else tuple(c.name for c in recording.conversations)
    source = Source(
        title=path.name,
        agent=recording.format,
        origin="file",
        place=str(path),
        project=project,
        size=status.st_size,
        changed=status.st_mtime,
        conversations=names if len(names) > 1 else (),
        chosen=chosen,
        warnings=(*recording.warnings, *current.warnings),
    )
    progress(0.4, "Following what was shown")
    segments = recorded([_lighter(part.transcript.messages) for part in parts])
    current = _transcript(current, segments[-1].messages)
    del recording, parts
    gc.collect()
    log = {message.id: message for segment in segments for message in segment.messages}
    return _measured(source, tuple(log.values()), segments, current, model, config, progress)


def _model_in(path: Path) -> str:
    """Return the model that the beginning of a file names outside of its messages, "" for none."""
    with path.open("rb") as file:
        data = file.read(HEAD)
    if data.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            data = zlib.decompressobj(wbits=31).decompress(data, 4 * HEAD)
    found = _MODEL.search(data.decode("utf-8", "replace"))
    return found[1] if found else ""


def _chosen(recording: Recording, wanted: int | None) -> tuple[int, Sequence[Conversation]]:
    """Return which conversation is meant, and all that belong to it."""
    held = recording.conversations
    if not held:
        raise InputError("The file holds no conversation", hint="Give a file that has one.")
    if len(held) > 1 and all(one.name.startswith(SEGMENT) for one in held):
        return len(held) - 1, held
    index = len(held) - 1 if wanted is None else wanted
    if not 0 <= index < len(held):
        raise InputError(f"The file has {len(held)} conversations, not {index + 1}")
    return index, held[index : index + 1]


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
    light = _lighter(log)
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


def _lighter(messages: Sequence[Message]) -> tuple[Message, ...]:
    return tuple(map(without_wire, messages))


def _transcript(whole: Transcript, messages: tuple[Message, ...]) -> Transcript:
    return Transcript(messages, whole.dialect, whole.system, whole.tools, None, whole.warnings)


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
    progress(0.5, "Counting tokens")
    _ = trace.timeline
    progress(0.75, "Adding up tools and files")
    _ = trace.stats, trace.handles, trace.positions
    progress(1.0, "Done")
    return trace
