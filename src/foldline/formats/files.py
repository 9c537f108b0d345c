"""Transcript file formats by name, and detection of a file's format."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from foldline.errors import InputError, UnknownFormat
from foldline.formats.recording import FileFormat, Recording
from foldline.formats.registry import OnDemand, by_name
from foldline.formats.source import TranscriptSource, plain_limit, read_up_to, too_large

_CLASSES = {
    "claude-code": ("claude_code", "ClaudeCode"),
    "codex": ("codex", "Codex"),
    "pi": ("pi", "Pi"),
    "gemini-cli": ("gemini_cli", "GeminiCli"),
    "aider": ("aider", "Aider"),
    "swe-agent": ("swe_agent", "SweAgent"),
    "mini-swe-agent": ("embedded", "MiniSweAgent"),
    "tau-bench": ("tau", "TauBench"),
    "tau2": ("tau", "Tau2"),
    "openhands": ("openhands", "OpenHands"),
    "langgraph": ("embedded", "LangGraph"),
    "inspect-ai": ("inspect_ai", "InspectAI"),
    "gemini-contents": ("embedded", "GeminiContents"),
    "droid": ("wire_file", "Droid"),
    "moatless": ("embedded", "Moatless"),
    "magentic-one": ("embedded", "MagenticOne"),
    "wire": ("wire_file", "WireFile"),
}
_EXCERPT_LENGTH = 60

ENDINGS: Final = (
    ".jsonl",
    ".json",
    ".traj",
    ".eval",
    ".jsonl.gz",
    ".json.gz",
    ".traj.gz",
    ".md.gz",
)
NAMES: Final = (".aider.chat.history.md",)


FILE_FORMATS: Mapping[str, FileFormat] = OnDemand(
    {
        name: (f"foldline.formats.transcripts.{module}", class_name)
        for name, (module, class_name) in _CLASSES.items()
    }
)
"""All file formats; at equal confidence the first wins."""


def file_format(name: str) -> FileFormat:
    """
    Return the file format with a name.

    Raises:
        UnknownFormat: There is none; the message lists the known names.
    """
    return by_name(FILE_FORMATS, name, "file format")


def detect_file(source: TranscriptSource) -> FileFormat:
    """
    Return the format with the highest confidence for a file, by its content only.

    Raises:
        UnknownFormat: None recognises it; the message describes the file.
    """
    agent = unreadable_agent(source)
    if agent:
        raise UnknownFormat(
            f"{source.name} is a session of {agent}, which is known but not read",
            hint="'foldline formats' lists what is read.",
        )
    sure = {name: known.recognises(source) for name, known in FILE_FORMATS.items()}
    best = max(sure, key=lambda name: sure[name])
    if sure[best] > 0:
        return FILE_FORMATS[best]
    raise UnknownFormat(
        f"{source.name} is not a known transcript: it is {_describe(source)}",
        hint="'foldline formats' lists the known ones; name one if it is among them.",
    )


def check_json(source: TranscriptSource) -> None:
    """
    Raise an error for a file that starts like JSON but is malformed.

    Raises:
        UnknownFormat: It is malformed; the message names line and column.
    """
    if source.broken_at:
        raise UnknownFormat(
            f"{source.name} is broken JSON: {source.broken_at}",
            hint="It may have been cut off: copy it again, or repair that place.",
        )


def read_file(
    content: str | os.PathLike[str] | bytes,
    *,
    format: str = "auto",  # noqa: A002  # public name
    max_bytes: int | None = None,
) -> Recording:
    """
    Read a transcript file.

    Args:
        content: A path, or the bytes of a file; gzip is decompressed.
        format: Name of the format, or "auto" to go by the content.
        max_bytes: Maximum size in bytes after decompression; None for 512 MB, and for
            compressed input 25 times its size or 8 MB, whichever is more.

    Raises:
        InputError: It cannot be read, is not a regular file, is too large, or is malformed.
        UnknownFormat: No format recognises it, or no format has that name.
    """
    chosen = None if format == "auto" else file_format(format)
    if isinstance(content, bytes):
        source = TranscriptSource.of(content, max_bytes=max_bytes)
    else:
        path = Path(content)
        source = TranscriptSource.of(
            read_bytes(path, plain_limit(max_bytes)), path.name, max_bytes
        )
    check_json(source)
    return (chosen or detect_file(source)).decode(source)


def may_be_transcript(name: str) -> bool:
    """Return True if a file with this name in a folder may be a transcript."""
    return name.endswith(ENDINGS) or name in NAMES


def read_bytes(path: Path, limit: int) -> bytes:
    """
    Read a regular file; the check is repeated on the open descriptor, which cannot be swapped.

    Args:
        path: The file.
        limit: Maximum size, in bytes.

    Raises:
        InputError: It cannot be read, is not a regular file, or is larger.
    """
    try:
        _check(path.stat(), path, limit)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  # a descriptor
            _check(os.fstat(file.fileno()), path, limit)
            return read_up_to(file.read, limit + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path} cannot be read: {reason}") from error


def _check(status: os.stat_result, path: Path, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path} is a directory", hint="Name a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a regular file", hint="Copy its content to a file.")
    if status.st_size > limit:
        raise too_large(str(path), limit)


def _describe(source: TranscriptSource) -> str:
    """Describe a file in a few words: the kind of text and its beginning."""
    value = source.document
    if isinstance(value, dict):
        return f"a JSON object with the fields {_names(value)}"
    if isinstance(value, list):
        inner = value[0] if value else None
        return f"a JSON list of {_kind(inner)}" if value else "an empty JSON list"
    if source.head:
        return f"JSON Lines that begin with {_kind(source.head[0])}"
    start = source.text[:400].strip().splitlines()
    return f"text that begins with {start[0][:_EXCERPT_LENGTH]!r}" if start else "blank"


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with the fields {_names(value)}"
    return "a list" if isinstance(value, list) else "values that are not objects"


def _names(value: Mapping[str, object]) -> str:
    names = ", ".join(str(key)[:40] for key in list(value)[:8])
    return names + (", …" if len(value) > 8 else "") if value else "(none)"


UNREADABLE: Final[Mapping[str, str]] = {
    "amp": "Amp thread (.json)",
    "continue": "Continue session (.json)",
    "copilot": "Copilot CLI session (.jsonl), VS Code Copilot chat (.json)",
    "cursor": "Cursor session (.jsonl)",
    "kimi": "Kimi CLI session (.jsonl)",
    "qwen-code": "Qwen Code session (.jsonl)",
    "windsurf": "Windsurf trajectory (.jsonl)",
}
"""The agents whose sessions are known but not read, by name."""


def unreadable_agent(source: TranscriptSource) -> str:
    """Return the name of the agent that wrote a session which is not read, or ""."""
    head = source.head[0] if source.head else source.document
    match head:
        case {"id": str(number), "messages": _, "v": _} if number.startswith("T-"):
            return "amp"
        case {"history": _, "workspaceDirectory": _, "sessionId": _}:
            return "continue"
        case {"type": "session.start", "data": dict()} | {"requests": _, "responderUsername": _}:
            return "copilot"
        case {"role": _, "message": dict(), **rest} if not rest:
            return "cursor"
        case {"type": _, "protocol_version": _}:
            return "kimi"
        case {"parentUuid": _, "message": {"parts": _}}:
            return "qwen-code"
        case {"type": str(kind), "status": _} if kind in head:
            return "windsurf"
        case _:
            return ""
