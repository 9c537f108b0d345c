"""The view after an append equals the view encoded as a whole."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.session.logs import log_of

from foldline.core.retention_settings import FileSettings
from foldline.formats.registry import dialect
from foldline.session.current_view import CurrentView
from foldline.testing.histories import histories
from foldline.testing.wires import DIALECT_NAMES, wire
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Fold, Rewrite
from foldline.values.messages import Message, Text
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter("o200k"))


@pytest.mark.parametrize("name", [n for n in DIALECT_NAMES if n != "pydantic-ai"])
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=60)
@given(st.data())
def test_messages_appended_after_an_edit_are_encoded_like_a_whole_view(name, data):
    found = dialect(name)
    messages = found.decode(wire(data.draw(histories(giants=False)), name)).messages
    cut = data.draw(st.integers(1, len(messages))) if messages else 0
    shown = CurrentView(COUNTER, log_of(), FileSettings())
    for message in messages[:cut]:
        shown.append(message)
    edits = list(_edits(data.draw, messages[:cut]))
    if edits:
        shown.replay([(cut, edits)])
    shown.wires(found)

    for message in messages[cut:]:
        shown.append(message)

        assert shown.wires(found) == found.messages(tuple(shown.messages.values()))


def _edits(draw, messages):
    """Yield a fold of the beginning, and rewrites of parts."""
    folded = draw(st.integers(0, len(messages)))
    if folded:
        snapshot = Message("user", (Text("what was before"),), id="0" * 32, intact=False)
        yield Fold(tuple(message.id for message in messages[:folded]), snapshot)
    for message in messages[folded:]:
        for index in range(len(message.parts)):
            change = draw(st.sampled_from(["stays", "stays", "stays", "gone", "other"]))
            if change != "stays":
                text = None if change == "gone" else "cleared"
                yield Rewrite(message.id, index, text, "clear")


@pytest.mark.parametrize("name", ["openai-chat", "anthropic"])
def test_after_an_edit_an_append_encodes_no_old_message_again(name):
    found = dialect(name)
    messages = found.decode([{"role": "user", "content": str(n)} for n in range(20)]).messages
    shown = CurrentView(COUNTER, log_of(), FileSettings())
    shown.append(messages[0])
    shown.append(messages[1])
    shown.replay([(2, [Rewrite(messages[0].id, 0, "other", "clear")])])
    first = shown.wires(found)[0]
    for message in messages[2:]:
        shown.append(message)

    # Earlier messages are the same objects: they were not encoded again.
    assert shown.wires(found)[0] is first
    assert [wire["content"] for wire in shown.wires(found)[1:]] == [str(n) for n in range(1, 20)]
