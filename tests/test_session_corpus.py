"""Real histories, appended message by message and viewed again and again."""

import pytest
from tests.corpus import corpus_files, requires_corpus

from foldline.formats.files import read_file
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.registry import DIALECTS
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.tokens.estimate import EstimatedCounter

pytestmark = [pytest.mark.corpus, requires_corpus]

FILES = [
    path
    for folder in (
        "claude-code-claude-reliability",
        "codex-jdx-communique",
        "langchain-deer-flow",
        "mini-swe-agent",
        "openhands-sdk",
        "pi-pi-mono",
    )
    for path in corpus_files(folder)[:1]
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_a_real_history_stays_valid_small_and_whole(path):
    transcript = read_file(path).conversations[0].transcript
    dialect = DIALECTS.get(transcript.dialect, OpenAIChatDialect())
    wires = dialect.messages(transcript.messages)
    counter = EstimatedCounter("o200k")
    store = MemoryStore()
    settings = {"store": store, "window": 40_000, "counter": counter}
    session = Session.open(None, "s", **settings)
    for number, wire in enumerate(wires):
        session.append(wire)
        if number % 10 == 9:
            shown = session.view()
            assert session.view() == shown
    shown = session.view()
    again = Session.open(None, "s", **settings)

    assert session.format == dialect.name
    assert session.tokens <= session.budget.limit
    assert len(dialect.validate(shown)) <= len(dialect.validate(wires))
    assert again.view() == shown
    assert all(message.raw is wire for message, wire in zip(session.messages, wires, strict=True))
    for handle in {handle for receipt in session.receipts for handle in receipt.recall}:
        again.recall(handle)
