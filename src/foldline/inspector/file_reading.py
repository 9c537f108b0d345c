"""
Read a transcript file for inspection: its messages, without their wire originals.

A large file is read in a separate process: reading takes several times the memory of the
result, and all of it is freed when that process ends.

If a file grows and its beginning is unchanged, only the appended part is read. The new
lines are decoded together with the first lines of the file and those just before them. The last
known messages must be among the result; otherwise the whole file is read.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, BinaryIO, Final

from foldline.errors import FoldlineError, InputError
from foldline.formats.files import read_file
from foldline.formats.recording import RecordedConversation, Recording
from foldline.frozen import field, fields, frozen
from foldline.values.edit_json import message_from_json, message_to_json
from foldline.values.identity import identify
from foldline.values.messages import Message

APART: Final = 24_000_000
"""Size in bytes from which a file is read in a separate process."""

HEAD: Final = 256 * 1024
"""Bytes at the start of a file that are searched for the model name."""

SEGMENT: Final = "segment "
"""Name prefix of the conversations that an agent's own compactions split a session into."""

STEP: Final = 2_000
"""Number of messages between progress reports."""

_MODEL: Final = re.compile(r'"model"\s{0,4}:\s{0,4}"([A-Za-z][\w./:@-]{1,99})"')


@frozen
class FileContent:
    """
    One session in a file.

    ``names`` are the parallel conversations in the file, ``chosen`` the one that was
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
        format: The format; "auto" detects it from the content.
        conversation: Index of the conversation, from 0; None for the last.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    recording = read_file(path, format=format)
    chosen, parts = _choose(recording, conversation)
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


def _choose(
    recording: Recording, requested: int | None
) -> tuple[int, Sequence[RecordedConversation]]:
    """Return the index of the selected conversation, and all conversations that belong to it."""
    held = recording.conversations
    if not held:
        raise InputError("The file holds no conversation", hint="Give a file that has one.")
    if len(held) > 1 and all(one.name.startswith(SEGMENT) for one in held):
        return len(held) - 1, held
    index = len(held) - 1 if requested is None else requested
    if not 0 <= index < len(held):
        raise InputError(f"The file has {len(held)} conversations, not {index + 1}")
    return index, held[index : index + 1]


def _model_in(path: Path) -> str:
    """Return the model named at the start of a file, outside its messages; "" for none."""
    with path.open("rb") as file:
        data = file.read(HEAD)
    if data.startswith(b"\x1f\x8b"):
        with suppress(zlib.error):
            data = zlib.decompressobj(wbits=31).decompress(data, 4 * HEAD)
    found = _MODEL.search(data.decode("utf-8", "replace"))
    return found[1] if found else ""


def model_named(messages: Sequence[Message]) -> str:
    """Return the name of the model of the last answer; "" if no message records it."""
    for message in reversed(messages):
        if message.role == "assistant" and isinstance(message.raw, dict):
            name = message.raw.get("model") or message.raw.get("modelId")
            if isinstance(name, str) and name and not name.startswith("<"):
                return name[:200]
    return ""


# --- in a separate process --------------------------------------------------------------------


def read_apart(
    path: Path,
    format: str,  # noqa: A002  # as everywhere in this library
    conversation: int | None,
    progress: Callable[[float, str], None],
) -> FileContent:
    """
    Read a file in a separate process; see `read_content`.

    Args:
        path: The file.
        format: What it is.
        conversation: Index of the conversation, from 0; None for the last.
        progress: Called with a fraction of the work and what comes next.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    words = [str(path), format, "" if conversation is None else str(conversation)]
    # -P: no module in the working directory can shadow one of ours.
    command = [sys.executable, "-P", "-m", "foldline.inspector.file_reading", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:  # noqa: S603  # our own
        assert child.stdout is not None  # noqa: S101  # it is a pipe
        try:
            return _receive(child.stdout, progress)
        finally:
            child.kill()


def _receive(lines: IO[bytes], progress: Callable[[float, str], None]) -> FileContent:
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
                progress(0.3 + 0.2 * done / whole, f"Receiving {done:,} of {whole:,} messages")
        segments.append(tuple(messages))
    for name in ("names", "warnings", "tools"):
        head[name] = tuple(head[name])
    return FileContent(**head, segments=tuple(segments))


def _serialize(content: FileContent) -> Iterator[str]:
    """Yield lines: the properties of the file, then each message."""
    head = {
        one.name: getattr(content, one.name)
        for one in fields(FileContent)
        if one.name != "segments"
    }
    yield json.dumps({**head, "sizes": [len(messages) for messages in content.segments]})
    for messages in content.segments:
        # Without the wire originals.
        yield from (json.dumps(message_to_json(one, lambda _: None)) for one in messages)


# --- what was appended -----------------------------------------------------------------------

BEGINNING: Final = 64 * 1024
"""Bytes at the start of a file that identify its format; their lines are decoded again."""

OVERLAP: Final = 512 * 1024
"""Bytes before the new ones that are decoded together with them."""

MOST: Final = 16_000_000
"""Number of new bytes from which the whole file is read."""

SAME: Final = 12
"""Number of known messages that must be decoded again, or all if there are fewer."""

CHANGED: Final = 3
"""Messages at the end that the next lines may still change."""

_STEP: Final = 1 << 20


@frozen
class Mark:
    """
    The position up to which a line-based file was read.

    ``end`` is the offset after its last whole line, in bytes; ``digest`` covers everything before.
    """

    path: Path
    format: str
    inode: int
    end: int
    digest: bytes = field(repr=False)


def mark(path: Path, format: str, size: int) -> Mark | None:  # noqa: A002  # as everywhere
    """
    Record how far a file was read.

    Args:
        path: The file.
        format: What it is.
        size: Its size when reading began, in bytes.

    Returns:
        None if it is not line-based and so cannot be read from the middle.
    """
    with path.open("rb") as file:
        first = file.readline(BEGINNING)
        if not first.endswith(b"\n") or not _is_object(first):
            return None
        end = _line_end(file, size)
        return Mark(path, format, os.fstat(file.fileno()).st_ino, end, _digest(file, end))


def read_appended(
    marked: Mark, known: Sequence[Message]
) -> tuple[tuple[Message, ...], Mark] | None:
    """
    Read what was appended to a file.

    Args:
        marked: The position up to which it was read.
        known: The messages of its current conversation.

    Returns:
        All messages of the conversation, known ones as the same objects; None if
        the whole file must be read.
    """
    with marked.path.open("rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        same = status.st_ino == marked.inode and 0 <= size - marked.end <= MOST
        if not same or _digest(file, marked.end) != marked.digest:
            return None
        end = _line_end(file, size)
        window = _window(file, marked.end, size)
        now = Mark(marked.path, marked.format, marked.inode, end, _digest(file, end))
    try:
        found = read_file(window, format=marked.format).current.transcript.messages
    except InputError:
        return None
    joined = _join(known, found)
    return None if joined is None else (joined, now)


def _join(known: Sequence[Message], found: Sequence[Message]) -> tuple[Message, ...] | None:
    """Append to the known messages those found after the last of them."""
    for dropped in range(min(CHANGED, len(known) - 1) + 1):
        kept = known[: len(known) - dropped]
        last = tuple(kept[-SAME:])
        ends = [
            end
            for end in range(len(last), len(found) + 1)
            if found[end - 1] == last[-1] and tuple(found[end - len(last) : end]) == last
        ]
        if len(ends) == 1:
            return (*kept, *identify(found[ends[0] :], [message.id for message in kept]))
        if ends:
            return None
    return None


def _window(file: BinaryIO, start: int, end: int) -> bytes:
    """Return whole lines: the first of a file, those before an offset, and those after it."""
    file.seek(0)
    head = file.read(min(BEGINNING, start))
    head = head[: head.rfind(b"\n") + 1]
    begin = max(len(head), start - OVERLAP)
    file.seek(begin)
    rest = file.read(end - begin)
    if begin > len(head):
        rest = rest[rest.find(b"\n") + 1 :]
    return head + rest


def _line_end(file: BinaryIO, size: int) -> int:
    """Return the end of the last whole line in the first ``size`` bytes."""
    end = size
    while end > 0:
        start = max(0, end - _STEP)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _digest(file: BinaryIO, end: int) -> bytes:
    digest = blake2b(digest_size=16)
    file.seek(0)
    while end > 0 and (piece := file.read(min(_STEP, end))):
        digest.update(piece)
        end -= len(piece)
    return digest.digest()


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


# --- the other process ------------------------------------------------------------------------


def main(words: Sequence[str]) -> None:
    """Read the named file and write it line by line; an error is written as the only line."""
    path, format_, conversation = words
    gc.disable()  # there are no cycles, and this process is short-lived
    try:
        content = read_content(Path(path), format_, int(conversation) if conversation else None)
        lines = _serialize(content)
    except FoldlineError as error:
        lines = iter([json.dumps({"error": error.message, "hint": error.hint or ""})])
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main(sys.argv[1:])
