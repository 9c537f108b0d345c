import pytest
from tests.neutral import A, U

from foldline.errors import InputError
from foldline.values.transcript import Transcript

TOLD = Transcript.of([U("task"), A("ok"), U("next")], "anthropic", system="Be brief.")


def test_a_transcript_gives_every_message_an_id():
    assert len({message.id for message in TOLD.messages}) == 3
    assert all(len(message.id) == 32 for message in TOLD.messages)


def test_positions_from_both_ends_and_ids_can_be_pinned():
    pinned = TOLD.pin([0, -1])
    assert [message.pinned for message in pinned.messages] == [True, False, True]
    by_id = TOLD.pin([TOLD.messages[1].id])
    assert [message.pinned for message in by_id.messages] == [False, True, False]


def test_pinning_nothing_changes_nothing():
    assert TOLD.pin([]) is TOLD


def test_pinning_a_missing_message_is_an_error_that_names_it():
    with pytest.raises(InputError, match="99, unknown"):
        TOLD.pin([99, "unknown"])


def test_with_messages_keeps_everything_else():
    fewer = TOLD.with_messages(TOLD.messages[:1])
    assert (fewer.system, fewer.dialect, len(fewer.messages)) == ("Be brief.", "anthropic", 1)
