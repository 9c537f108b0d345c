import pytest
from hypothesis import given

from foldline.formats.registry import DIALECTS
from foldline.testing.histories import KINDS, conversations, histories, sample
from foldline.testing.wires import wire
from foldline.values.groups import pair


@given(conversations(most=5))
def test_every_generated_conversation_is_recognised_and_read(conversation):
    name, value = conversation
    transcript = DIALECTS[name].decode(value)
    assert transcript.messages
    assert DIALECTS[name].encode(transcript) == value


@given(histories(damaged=False, giants=False))
def test_a_healthy_history_has_a_call_for_every_result(messages):
    pairing = pair(messages)
    assert not pairing.orphans
    assert not pairing.late
    assert len({message.id for message in messages}) == len(messages)


@pytest.mark.parametrize("name", DIALECTS)
def test_damage_of_every_kind_is_generated(name):
    seen = set()

    @given(conversations(name, giants=False))
    def look(conversation):
        pairing = pair(DIALECTS[name].decode(conversation[1]).messages)
        seen.update(
            kind for kind in ("open", "orphans", "late", "answers") if getattr(pairing, kind)
        )

    look()
    assert seen == {"open", "orphans", "late", "answers"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_is_the_same_every_time_and_grows(kind):
    assert sample(kind, 3) == sample(kind, 3)
    assert len(sample(kind, 50)) > len(sample(kind, 5)) > 0


def test_every_dialect_has_a_wire():
    for name in DIALECTS:
        assert wire((), name) == []
