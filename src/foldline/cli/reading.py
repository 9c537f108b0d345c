"""Reading what a command was given: a file or stdin, and one conversation of it."""

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
"""Bytes from which reading is announced."""

LONG = 2_000
"""Messages from which work on a conversation is announced."""


@frozen
class Input:
    """A recording with the conversation of it that is meant; ``index`` counts from 0."""

    name: str
    recording: Recording = field(repr=False)
    index: int

    @property
    def conversation(self) -> RecordedConversation:
        """The conversation that is meant."""
        return self.recording.conversations[self.index]

    @property
    def transcript(self) -> Transcript:
        """What it says."""
        return self.conversation.transcript

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what could not be read."""
        return (*self.recording.warnings, *self.transcript.warnings)

    @property
    def long(self) -> bool:
        """Whether work on it takes long enough to say so."""
        return len(self.transcript.messages) > LONG

    @property
    def place(self) -> str:
        """Which conversation it is, such as "segment 3 of 3"; empty where there is only one."""
        count = len(self.recording.conversations)
        return "" if count == 1 else f"conversation {self.index + 1} of {count}"

    def to_dict(self) -> dict[str, Any]:
        """Return what was read as JSON values: the file, its format, and which conversation."""
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
    Read a file, or stdin, and choose a conversation of it.

    Args:
        file: A path, or "-" for stdin.
        source_format: A kind of file or a wire format; None to recognise it.
        conversation: Its name or number; None for the last.
        output: Notes which conversation was chosen, and what could not be read.
        max_bytes: The most that is read, in bytes after decompression; None for the defaults.

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
    Return what counts a transcript.

    Args:
        transcript: Whose provider has the rules for media.
        model: As whom to count.
        output: Warns of a model that is not known.
    """
    counter = api.counter_for(transcript, model)
    if model and output is not None:
        output.warn(_warn_unknown(model, counter.texts.name))
    return counter


def _warn_unknown(model: str, counter: str) -> Iterator[str]:
    """Warn of a model that is not known, and suggest the nearest name."""
    # Imported here: the catalogue is read from a file, which only a named model needs.
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
    Find the one message for which a list of messages is not recognised.

    Raises:
        UnknownFormat: Naming it; nothing is raised where the content is something else.
    """
    document = source.document
    items = document.get("messages") if isinstance(document, dict) else document
    if isinstance(items, list) and any(isinstance(i, dict) and "role" in i for i in items):
        detect_dialect(document)


def _as_dialect(source: TranscriptSource, format: str) -> Recording:  # noqa: A002
    """Read one JSON value in a wire format that was named."""
    if not isinstance(source.document, (list, dict)):
        check_json(source)
        raise InputError(
            f"{source.name} is not one JSON value, which messages in {format} are",
            hint="Leave out --from to let the kind of file be recognised.",
        )
    there = dialect(format).decode(source.document)
    document = JsonDocument(source, (ConversationPath((), there.messages),))
    return Recording("wire", (RecordedConversation("messages", there),), document)


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
