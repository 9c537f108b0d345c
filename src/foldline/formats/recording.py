"""What a transcript file holds: one or more conversations, and everything around them."""

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
    """One conversation of a file, under the name that the file gives it."""

    name: str
    transcript: Transcript


@frozen
class Recording:
    """
    A decoded file.

    A session that its agent has compacted is several conversations, "segment 1 of 3" and so on:
    what the model saw before each compaction, and last what it sees now.
    ``document`` is whatever the format needs to write the file again; only the format reads it.
    ``warnings`` are sentences about lines that could not be read.
    """

    format: str
    conversations: tuple[RecordedConversation, ...]
    document: Any = field(default=None, repr=False, compare=False)
    warnings: tuple[str, ...] = ()

    @property
    def current(self) -> RecordedConversation:
        """The last conversation: what the model sees now, and what is compacted by default."""
        return self.conversations[-1]

    def with_transcript(self, index: int, transcript: Transcript) -> Recording:
        """
        Return a copy in which one conversation reads otherwise.

        Args:
            index: Position of the conversation; negative ones count from the end.
            transcript: What it says now.
        """
        conversations = list(self.conversations)
        conversations[index] = replace(conversations[index], transcript=transcript)
        return replace(self, conversations=tuple(conversations))


def name_segments(
    transcripts: Sequence[Transcript], alone: str
) -> tuple[RecordedConversation, ...]:
    """Name the segments into which compactions divide a session, one without as the session."""
    count = len(transcripts)
    return tuple(
        RecordedConversation(alone if count == 1 else f"segment {number} of {count}", transcript)
        for number, transcript in enumerate(transcripts, 1)
    )


def wrong_format(source: TranscriptSource, title: str) -> InputError:
    """Return the error for a file that is read as something which it is not."""
    return InputError(
        f"{source.name} is not a {title}", hint="Name the right format, or let it be detected."
    )


class FileFormat(ABC):
    """
    A kind of transcript file.

    ``encode(decode(source))`` are the very bytes that came. A changed conversation is written in
    the format too: untouched messages as they stand in the file, changed and new ones in its way.
    """

    name: ClassVar[str]
    title: ClassVar[str]

    @abstractmethod
    def recognises(self, source: TranscriptSource) -> float:
        """Return how sure it is that this is such a file, from 0 to 1, looking at content only."""

    @abstractmethod
    def decode(self, source: TranscriptSource) -> Recording:
        """
        Read a file.

        Raises:
            InputError: Naming the line or message and the field.
        """

    @abstractmethod
    def encode(self, recording: Recording) -> bytes:
        """Write a file."""
