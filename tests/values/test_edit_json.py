import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.repair.repair import repair
from foldline.values.edit_json import (
    edits_from_json,
    edits_to_json,
    message_from_json,
    message_to_json,
)
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
)
from foldline.values.transcript import Transcript

words = st.text(max_size=12)
raws = st.none() | st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
contents = (
    st.builds(Text, words, raws)
    | st.builds(
        Media,
        st.sampled_from(["image", "audio", "video", "document"]),
        words,
        st.integers(0, 9),
        st.none() | st.integers(1, 9),
        st.none() | st.integers(1, 9),
        st.none() | st.integers(1, 9),
        st.none() | words,
        raws,
    )
    | st.builds(Opaque, words, words, raws)
)
parts = (
    contents
    | st.builds(ToolCall, st.none() | words, words, words, st.booleans(), raws)
    | st.builds(
        ToolResult,
        st.none() | words,
        st.lists(contents, max_size=2).map(tuple),
        words,
        st.booleans(),
        raws,
    )
    | st.builds(Thinking, words, st.booleans(), raws)
    | st.builds(Omitted, words)
)
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    st.lists(parts, max_size=3).map(tuple),
    raws,
    words,
    words,
    st.none() | words,
    st.booleans(),
    st.booleans(),
    st.none() | st.builds(Usage, *[st.integers(0, 99)] * 4),
    words,
)
ids = st.lists(words, max_size=3).map(tuple)
edits = (
    st.builds(Rewrite, words, st.integers(0, 9), st.none() | words, words, words, st.booleans())
    | st.builds(Drop, ids, words, words)
    | st.builds(Fold, ids, messages, words)
    | st.builds(Insert, words, messages, words)
    | st.builds(Move, words, words, words)
)


def everything(value: object) -> str:
    """Return a representation with envelopes, which equality of messages ignores."""
    if isinstance(value, tuple):
        return repr([everything(item) for item in value])
    if hasattr(value, "__dataclass_fields__"):
        names = value.__dataclass_fields__
        return repr({name: everything(getattr(value, name)) for name in names})
    return repr(value)


@given(st.lists(edits, max_size=4).map(tuple))
def test_edits_round_trip_exactly_through_json_text(made):
    text = json.dumps(edits_to_json(made))

    assert everything(edits_from_json(json.loads(text))) == everything(made)


@given(messages)
def test_messages_round_trip_exactly_with_their_envelopes(message):
    text = json.dumps(message_to_json(message))

    assert everything(message_from_json(json.loads(text))) == everything(message)


def test_a_repair_note_keeps_its_wire_original_and_its_changed_state():
    wire = {"role": "tool", "tool_call_id": "lost", "content": "42"}
    result = ToolResult("lost", (Text("42", raw="42"),), raw=wire)
    orphan = Message("tool", (result,), wire, "openai-chat")
    asked = Message("user", (Text("hi", raw="hi"),), {"role": "user", "content": "hi"})
    made = repair(Transcript.of([asked, orphan], "openai-chat").messages, "openai-chat")

    back = edits_from_json(json.loads(json.dumps(edits_to_json(made))))

    assert made
    assert everything(back) == everything(made)
    assert not any(fold.snapshot.intact for fold in back if isinstance(fold, Fold))


def test_objects_of_a_wire_pass_through_freeze_and_thaw():
    note = Message("user", (Text("x", raw=3 + 4j),), raw=1 + 2j)

    value = json.loads(json.dumps(edits_to_json([Insert("", note)], freeze=str)))
    (back,) = edits_from_json(value, thaw=complex)

    assert back.message.raw == 1 + 2j
    assert back.message.parts[0].raw == 3 + 4j


@pytest.mark.parametrize(
    "value", [None, [], {}, {"schema": "foldline.edits/2", "edits": []}, "foldline.edits/1"]
)
def test_another_schema_is_rejected_by_name(value):
    with pytest.raises(InputError, match=r"foldline\.edits/1"):
        edits_from_json(value)


@pytest.mark.parametrize(
    "item",
    [
        None,
        {},
        {"type": "explode"},
        {"type": "drop"},
        {"type": "move", "message": "a", "after": "b", "__class__": "os"},
        {"type": "fold", "messages": ["a"], "snapshot": {"role": "user", "parts": [{"type": 1}]}},
    ],
)
def test_a_malformed_edit_is_rejected_with_its_position(item):
    good = {"type": "drop", "messages": ["a"], "kind": "window"}

    with pytest.raises(InputError) as caught:
        edits_from_json({"schema": "foldline.edits/1", "edits": [good, item]})

    assert caught.value.index == 1
