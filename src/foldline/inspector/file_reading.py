"""
Reading a transcript file to be looked at: what was said, without what it was written in.

A large file is read in a process of its own: reading takes several times the memory of what is
kept, and that process gives it all back when it ends.
"""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from foldline.errors import FoldlineError, InputError
from foldline.formats.files import read_file
from foldline.formats.recording import RecordedConversation, Recording
from foldline.inspector.trace import model_named
from foldline.values.edit_json import message_from_json, message_to_json
from foldline.values.messages import Message

APART: Final = 24_000_000
"""Bytes from which a file is read in a process of its own."""

HEAD: Final = 256 * 1024
"""Bytes at the beginning of a file in which the name of the model is looked for."""

SEGMENT: Final = "segment "
"""How the conversations are named into which an agent's own compactions divide a session."""

STEP: Final = 2_000
"""Messages after which the progress is told anew."""

_MODEL: Final = re.compile(r'"model"\s{0,4}:\s{0,4}"([A-Za-z][\w./:@-]{1,99})"')


@dataclass(frozen=True, slots=True)
class FileContent:
    """
    What a file holds of one session.

    ``names`` are the conversations that it has beside each other, ``chosen`` the one that was
    read; ``segments`` is what the model saw between the agent's own compactions.
    """

    format: str
    names: tuple[str, ...]
    chosen: int
    warnings: tuple[str, ...]
    model: str
    dialect: str
    system: str = field(repr=False)
    tools: tuple[Any, ...] = field(repr=False)
    segments: tuple[tuple[Message, ...], ...] = field(repr=False)


def read_content(path: Path, format: str, conversation: int | None) -> FileContent:  # noqa: A002
    """
    Read a file in this process.

    Args:
        path: The file.
        format: What it is, "auto" to go by its content.
        conversation: Which of several, from 0; None for the last.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    recording = read_file(path, format=format)
    chosen, parts = _chosen(recording, conversation)
    current = parts[-1].transcript
    named = (model_named(part.transcript.messages) for part in reversed(parts))
    names = tuple(one.name for one in recording.conversations) if len(parts) == 1 else ()
    return FileContent(
        recording.format,
        names if len(names) > 1 else (),
        chosen,
        (*recording.warnings, *current.warnings),
        next(filter(None, named), "") or _model_in(path),
        current.dialect,
        current.system,
        current.tools,
        tuple(part.transcript.messages for part in parts),
    )


def _chosen(
    recording: Recording, wanted: int | None
) -> tuple[int, Sequence[RecordedConversation]]:
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


def _model_in(path: Path) -> str:
    """Return the model that the beginning of a file names outside of its messages, "" for none."""
    with path.open("rb") as file:
        data = file.read(HEAD)
    if data.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            data = zlib.decompressobj(wbits=31).decompress(data, 4 * HEAD)
    found = _MODEL.search(data.decode("utf-8", "replace"))
    return found[1] if found else ""


# --- in a process of its own --------------------------------------------------------------------


def read_apart(
    path: Path,
    format: str,  # noqa: A002  # as everywhere in this library
    conversation: int | None,
    progress: Callable[[float, str], None],
) -> FileContent:
    """
    Read a file in a process of its own; see `read_content`.

    Args:
        path: The file.
        format: What it is.
        conversation: Which of several, from 0; None for the last.
        progress: Is told a fraction of the work and what comes next.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    words = [str(path), format, "" if conversation is None else str(conversation)]
    # -P: no module in the working directory takes the place of one of ours.
    command = [sys.executable, "-P", "-m", "foldline.inspector.file_reading", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:  # noqa: S603  # our own
        assert child.stdout is not None  # noqa: S101  # it is a pipe
        try:
            return _received(child.stdout, progress)
        finally:
            child.kill()


def _received(lines: IO[bytes], progress: Callable[[float, str], None]) -> FileContent:
    head = json.loads(lines.readline() or b'{"error": "The reading of the file broke off"}')
    if "error" in head:
        raise InputError(head["error"], hint=head.get("hint", ""))
    sizes = head.pop("sizes")
    whole, done = max(1, sum(sizes)), 0
    segments = []
    for size in sizes:
        messages = []
        for _ in range(size):
            messages.append(message_from_json(json.loads(lines.readline())))
            done += 1
            if not done % STEP:
                progress(0.3 + 0.2 * done / whole, f"Taking over {done:,} of {whole:,} messages")
        segments.append(tuple(messages))
    for name in ("names", "warnings", "tools"):
        head[name] = tuple(head[name])
    return FileContent(**head, segments=tuple(segments))


def _sent(content: FileContent) -> Iterator[str]:
    """Yield lines: what the file is, then each message."""
    head = {name: getattr(content, name) for name in FileContent.__slots__ if name != "segments"}
    yield json.dumps({**head, "sizes": [len(messages) for messages in content.segments]})
    for messages in content.segments:
        yield from (json.dumps(message_to_json(one, _nothing)) for one in messages)


def _nothing(_: Any) -> None:
    """Leave out what a message was written in."""


def main(words: Sequence[str]) -> None:
    """Read the file that is named and write it line by line; an error is the only line."""
    path, format_, conversation = words
    gc.disable()  # there are no cycles, and this process ends soon
    try:
        content = read_content(Path(path), format_, int(conversation) if conversation else None)
    except FoldlineError as error:
        failed = {"error": error.message, "hint": error.hint or ""}
        sys.stdout.write(json.dumps(failed) + "\n")
        return
    for line in _sent(content):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
