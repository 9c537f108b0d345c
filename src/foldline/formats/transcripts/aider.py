"""
aider chat histories: Markdown in which the first characters of a line say who speaks.

``# aider chat started at`` begins a chat, ``#### `` is the user, ``> `` is aider's own output, the
rest is the model. The file has no ids and no results: what aider printed during a turn (diffs that
did not apply, test output, commits) is a part of the message of the model beside which it stands,
and what it printed before the first prompt is a system message.
"""

from __future__ import annotations

from foldline.formats.recording import Recording, unrecognised
from foldline.formats.source import Source, decoded
from foldline.formats.transcripts.aider_reading import NAME, START, read
from foldline.formats.transcripts.aider_writing import written

LOOKED_AT = 512 * 1024
"""How much of a file is searched for the beginning of a chat, in bytes; a banner can be long."""


class Aider:
    """The file ``.aider.chat.history.md``."""

    name = NAME
    title = "aider chat history (.md)"

    def recognises(self, source: Source) -> float:
        """Look for the line that begins a chat, and for prompts."""
        lines = decoded(source.data[:LOOKED_AT], source.encoding).split("\n")
        if any(line.startswith(START) for line in lines):
            return 1.0
        marked = [line for line in lines if line.startswith(("#### ", "> "))]
        prompts = any(line.startswith("#### ") and line.endswith("  ") for line in marked)
        return 0.3 if prompts and source.document is None else 0.0

    def decode(self, source: Source) -> Recording:
        """Read one conversation for every chat; the last one is the current one."""
        if not self.recognises(source):
            raise unrecognised(source, self.title)
        history, conversations = read(source)
        return Recording(self.name, conversations, history)

    def encode(self, recording: Recording) -> bytes:
        """
        Write the file.

        Untouched pieces stay as they are. Neighbouring messages of the model that have no prompt
        between them any more are one message when the file is read again: it has no other mark.
        """
        return written(recording)
