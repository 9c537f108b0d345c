"""Logs for tests: some messages in a store, some appended since."""

from dataclasses import replace

from foldline.session.log import Log
from foldline.stores.protocol import SessionHead, StoredMessage, StoredSession
from foldline.values.identity import identify
from foldline.values.messages import Message, Text


class Kept:
    """A store that counts how often a message is read."""

    def __init__(self, messages=()):
        self.messages = list(messages)
        self.reads = 0

    def load(self):
        stored = tuple(StoredMessage(m.id, m.role, m.text, pinned=m.pinned) for m in self.messages)
        ids = tuple(message.id for message in self.messages)
        return StoredSession(SessionHead("s"), len(ids), ids, stored, ())

    def read(self, item):
        self.reads += 1
        return Message(item.role, (Text(item.wire),))


def make_messages(count, start=0):
    return identify([Message("user", (Text(str(n)),)) for n in range(start, start + count)])


def log_of(stored=(), kept=None):
    kept = kept or Kept(stored)
    return Log(kept.load(), kept.read, kept.load)


def pinned(message):
    return replace(message, pinned=True)
