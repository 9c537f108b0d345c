"""Read the input of a command: a file or stdin, and one conversation in it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from foldline import api
from foldline.cli.output import Output
from foldline.core.validation import suggest_name
from foldline.errors import InputError, UnknownFormat
from foldline.formats.files import FILE_FORMATS, check_json, read_bytes, read_file
from foldline.formats.json_document import ConversationPath, JsonDocument
from foldline.formats.recording import RecordedConversation, Recording
from foldline.formats.registry import DIALECTS, detect_dialect, dialect
from foldline.formats.source import TranscriptSource, plain_limit, read_up_to
from foldline.frozen import field, frozen
from foldline.tokens.choose import family_of
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

LARGE = 4_000_000
"""Size in bytes from which reading shows progress."""

LONG = 2_000
"""Number of messages from which work on a conversation shows progress."""


@frozen
class Input:
    """A recording and its selected conversation; ``index`` counts from 0."""

    name: str
    recording: Recording = field(repr=False)
    index: int

    @property
    def conversation(self) -> RecordedConversation:
        """The selected conversation."""
        return self.recording.conversations[self.index]

    @property
    def transcript(self) -> Transcript:
        """The transcript of the conversation."""
        return self.conversation.transcript

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about unreadable parts."""
        return (*self.recording.warnings, *self.transcript.warnings)

    @property
    def long(self) -> bool:
        """Whether work on it takes long enough to show progress."""
        return len(self.transcript.messages) > LONG

    @property
    def place(self) -> str:
        """Position of the conversation, such as "segment 3 of 3"; empty if it is the only one."""
        count = len(self.recording.conversations)
        return "" if count == 1 else f"conversation {self.index + 1} of {count}"

    def to_dict(self) -> dict[str, Any]:
        """Return the file, its format and the selected conversation as JSON values."""
        return {
            "file": self.name,
            "format": self.recording.format,
            "conversation": {
                "name": self.conversation.name,
                "number": self.index + 1,
                "of": len(self.recording.conversations),
            },
        }


def open_input(
    file: str,
    source_format: str | None,
    conversation: str | None,
    output: Output,
    max_bytes: int | None = None,
) -> Input:
    """
    Read a file or stdin, and select a conversation.

    Args:
        file: A path, or "-" for stdin.
        source_format: A kind of file or a wire format; None detects it.
        conversation: Its name or number; None for the last.
        output: Receives notes on the selected conversation and on unreadable parts.
        max_bytes: Maximum number of decompressed bytes to read; None for the defaults.

    Raises:
        InputError: It cannot be read, or has no such conversation.
    """
    with output.working(f"Reading {file}", long=_is_large(file)):
        recording = _read(file, source_format, max_bytes)
    if not recording.conversations:
        raise InputError(f"{file} holds no conversation", hint="Give a file that has one.")
    index = _choose(recording, conversation)
    opened = Input("stdin" if file == "-" else Path(file).name, recording, index)
    if opened.place and conversation is None:
        title = opened.conversation.name
        named = "" if title == f"segment {index + 1} of {index + 1}" else f" ({title})"
        output.note(
            f"Taking {opened.place}{named}, the current one; --conversation chooses another."
        )
    return opened


def counter_for(
    transcript: Transcript, model: str | None, output: Output | None = None
) -> TokenCounter:
    """
    Return a token counter for a transcript.

    Args:
        transcript: Its provider determines the rules for media.
        model: Model to count for.
        output: Receives a warning about an unknown model.
    """
    counter = api.counter_for(transcript, model)
    if model and output is not None:
        output.warn(_warn_unknown(model, counter.texts.name))
    return counter


def _warn_unknown(model: str, counter: str) -> Iterator[str]:
    """Warn about an unknown model, and suggest the nearest name."""
    # Imported here: the catalogue is read from a file, needed only if a model is named.
    from foldline.models.catalogue import Catalogue

    known = Catalogue.load()
    if not known.find(model.rpartition(":")[2]).resolved and family_of(model) is None:
        near = suggest_name(model, known.models)
        yield f"The model {model[:80]!r} is not known; {counter} counts. {near}".rstrip()


def _read(file: str, format: str | None, max_bytes: int | None) -> Recording:  # noqa: A002
    limit = plain_limit(max_bytes)
    if format is not None and format in DIALECTS and format not in FILE_FORMATS:
        data = _stdin(limit) if file == "-" else read_bytes(Path(file), limit)
        return _as_dialect(TranscriptSource.of(data, file, max_bytes), format)
    content = _stdin(limit) if file == "-" else file
    try:
        return read_file(content, format=format or "auto", max_bytes=max_bytes)
    except UnknownFormat:
        if format is None:
            data = content if isinstance(content, bytes) else read_bytes(Path(file), limit)
            _name_the_message(TranscriptSource.of(data, max_bytes=max_bytes))
        raise


def _name_the_message(source: TranscriptSource) -> None:
    """
    Find the message that prevents a list of messages from being recognised.

    Raises:
        UnknownFormat: Names that message; not raised if the content is something else.
    """
    document = source.document
    items = document.get("messages") if isinstance(document, dict) else document
    if isinstance(items, list) and any(isinstance(i, dict) and "role" in i for i in items):
        detect_dialect(document)


def _as_dialect(source: TranscriptSource, format: str) -> Recording:  # noqa: A002
    """Read one JSON value in a given wire format."""
    if not isinstance(source.document, (list, dict)):
        check_json(source)
        raise InputError(
            f"{source.name} is not one JSON value, as messages in {format} must be",
            hint="Leave out --from to detect the format.",
        )
    transcript = dialect(format).decode(source.document)
    document = JsonDocument(source, (ConversationPath((), transcript.messages),))
    return Recording("wire", (RecordedConversation("messages", transcript),), document)


def _stdin(limit: int) -> bytes:
    if sys.stdin.isatty():
        click.echo("Reading a conversation from the terminal; end it with Ctrl-D.", err=True)
    return read_up_to(sys.stdin.buffer.read, limit + 1)


def _is_large(file: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(file).is_file() and Path(file).stat().st_size > LARGE
    return False


def _choose(recording: Recording, requested: str | None) -> int:
    names = [conversation.name for conversation in recording.conversations]
    if requested is None:
        return len(names) - 1
    if requested in names:
        return names.index(requested)
    if requested.removeprefix("-").isdecimal() and requested.isascii() and len(requested) < 10:
        number = int(requested)
        if 1 <= abs(number) <= len(names):
            return number - 1 if number > 0 else len(names) + number
    listed = ", ".join(f"{n} ({name})" for n, name in enumerate(names[:8], 1))
    more = ", …" if len(names) > 8 else ""
    raise InputError(
        f"There is no conversation {requested[:60]!r}", hint=f"The file has {listed}{more}."
    )
