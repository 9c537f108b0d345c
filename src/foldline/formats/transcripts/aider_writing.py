"""Writing an aider chat history whose chats were changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from foldline.formats.arrangement import Slot, arranged
from foldline.formats.flat_text import flat_text
from foldline.formats.recording import Recording
from foldline.formats.transcripts.aider_reading import PROMPT, Chat, History, Speaker, marked
from foldline.values.messages import Message, Omitted


def written(recording: Recording) -> bytes:
    """Write the file; see ``Aider.encode``."""
    history: History = recording.document
    draft = _Draft(history)
    for chat, there in zip(history.chats, recording.conversations, strict=True):
        draft.apply(chat, there.transcript.messages)
    return history.lines.joined(draft.lines())


class _Draft:
    """The file in the making: its slots, and the lines that changed or left."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.slots: tuple[Slot, ...] = tuple(range(len(history.lines.data)))
        self.changed: dict[int, bytes] = {}
        first = history.lines.data[0] if history.lines.data else b""
        self.ending = "\r\n" if first.endswith("\r\n".encode(history.lines.encoding)) else "\n"

    def apply(self, chat: Chat, messages: Sequence[Message]) -> None:
        """Bring one chat into its new state."""
        if messages == chat.messages and all(message.intact for message in messages):
            return
        before = {message.id: message for message in chat.messages}
        for message in messages:
            if message.id in before and not message.intact:
                self._change(chat, message, before[message.id])
        places = {
            key: tuple(line for piece in pieces for line in range(piece.start, piece.end))
            for key, pieces in chat.pieces.items()
        }
        self.slots = arranged(self.slots, places, messages, chat.start).slots

    def _change(self, chat: Chat, message: Message, before: Message) -> None:
        for position, piece in enumerate(chat.pieces[message.id]):
            part = message.parts[position]
            if part == before.parts[position]:
                continue
            gone = isinstance(part, Omitted)
            new = [] if gone else marked(flat_text([part]), piece.speaker)
            self.changed |= dict.fromkeys(range(piece.start, piece.end), b"")
            self.changed[piece.start] = self._bytes(new)

    def lines(self) -> Iterator[bytes]:
        """Write all slots, a blank line between prompts that would else become one."""
        data, prompt = self.history.lines.data, PROMPT.encode(self.history.lines.encoding)
        begun = {pieces[0].start for chat in self.history.chats for pieces in chat.pieces.values()}
        last = b""
        for slot in self.slots:
            if isinstance(slot, Message):
                line = self._new(slot)
            else:
                line = self.changed.get(slot, data[slot])
                if slot in begun and last.startswith(prompt) and line.startswith(prompt):
                    yield self._bytes([""])
            if line:
                yield line
                last = line

    def _new(self, message: Message) -> bytes:
        """Write a message that the chat did not have."""
        speaker: Speaker = "model" if message.role == "assistant" else "aider"
        if message.role == "user":
            speaker = "user"
        texts = [result.text for result in message.results]
        rest = [part for part in message.parts if not isinstance(part, Omitted)]
        text = "\n".join((*texts, flat_text(rest)) if texts else (flat_text(rest),))
        return self._bytes(["", *marked(text, speaker)])

    def _bytes(self, lines: Sequence[str]) -> bytes:
        text = "".join(line + self.ending for line in lines)
        return text.encode(self.history.lines.encoding, "surrogatepass")
