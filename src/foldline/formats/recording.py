"""The content of a transcript file: one or more conversations and their container."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from foldline.errors import InputError
from foldline.formats.source import TranscriptSource
from foldline.frozen import field, frozen, replace
from foldline.values.transcript import Transcript


@frozen
class RecordedConversation:
    """One conversation of a file, with its name in the file."""

    name: str
    transcript: Transcript


@frozen
class Recording:
    """
    A decoded file.

    A session that its agent has compacted has several conversations, "segment 1 of 3" and so on:
    the model's view before each compaction, and last the current one.
    ``document`` holds the data that the format needs to write the file; only the format reads it.
    ``warnings`` are sentences about lines that could not be read.
    """

    format: str
    conversations: tuple[RecordedConversation, ...]
    document: Any = field(default=None, repr=False, compare=False)
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> RecordedConversation:
        """The last conversation: the model's current view, compacted by default."""
        return self.conversations[-1]

    def with_transcript(self, index: int, transcript: Transcript) -> Recording:
        """
        Return a copy in which one conversation is replaced.

        Args:
            index: Position of the conversation; negative ones count from the end.
            transcript: Its new content.
        """
        conversations = list(self.conversations)
        conversations[index] = replace(conversations[index], transcript=transcript)
        return replace(self, conversations=tuple(conversations))


def name_segments(
    transcripts: Sequence[Transcript], alone: str
) -> tuple[RecordedConversation, ...]:
    """Name the segments between compactions; a session without compactions is one segment."""
    count = len(transcripts)
    return tuple(
        RecordedConversation(alone if count == 1 else f"segment {number} of {count}", transcript)
        for number, transcript in enumerate(transcripts, 1)
    )


def wrong_format(source: TranscriptSource, title: str) -> InputError:
    """Return the error for a file that is not in the format it is read as."""
    return InputError(
        f"{source.name} is not a {title}", hint="Name the right format, or let it be detected."
    )


class FileFormat(ABC):
    """
    A kind of transcript file.

    ``encode(decode(source))`` returns the original bytes. A changed conversation is written in
    the format too: unchanged messages as in the file, changed and new ones in the same layout.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def recognises(self, source: TranscriptSource) -> float:
        """Return the confidence that a file has this format, from 0 to 1, by its content only."""

    @abstractmethod
    def decode(self, source: TranscriptSource) -> Recording:
        """
        Read a file.

        Raises:
            InputError: It is malformed; the error names the line or message, and the field.
        """

    @abstractmethod
    def encode(self, recording: Recording) -> bytes:
        """Write a file."""
