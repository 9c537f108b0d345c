"""A prepared memory is restored only for the messages that it was made for."""

from dataclasses import replace

import pytest
from tests.session.logs import make_messages

from foldline.core.prepared import Prepared
from foldline.session.memory import from_store, to_store
from foldline.values.edits import Drop

SHOWN = make_messages(4)
PREPARED = Prepared(SHOWN[:3], (Drop((SHOWN[0].id,), "window"),), "openai-chat", 3, 7.0)


def test_a_prepared_memory_is_restored_if_the_view_is_the_same():
    found = from_store(to_store(PREPARED, 1), SHOWN)
    assert found is not None
    assert found.prepared == PREPARED
    assert from_store(to_store(PREPARED, 1), SHOWN[1:]) is None


@pytest.mark.parametrize("covered", [-1, 0, 5, True, 3.0, "3", None])
def test_an_impossible_number_of_messages_is_refused(covered):
    one = to_store(Prepared(SHOWN[:1], (), "openai-chat", 1, 7.0), 1)
    whole = to_store(PREPARED, 1)
    for stored in (one, whole):
        damaged = replace(stored, content={**stored.content, "covered": covered})
        assert from_store(damaged, SHOWN) is None
