from __future__ import annotations

import pytest

from foldline.context.packets import ContextPacket
from foldline.context.places import HEADINGS, ORDERS, PLACES, TAGS, WORDS, place_of


@pytest.mark.requirement("T4")
@pytest.mark.parametrize(
    ("metadata", "place"),
    [
        ({"type": "system_instruction"}, "role"),
        ({"type": "rag_result"}, "evidence"),
        ({"type": "knowledge"}, "evidence"),
        ({"type": "task_state"}, "state"),
        ({"type": "note", "note_type": "blocker"}, "state"),
        ({"type": "note", "note_type": "conclusion"}, "evidence"),
        ({"type": "note"}, "context"),
        ({"type": "memory"}, "context"),
        ({"type": "code_structure", "source": "terminal"}, "context"),
        ({"type": 17}, "context"),
        ({}, "context"),
        ({"type": "memory", "section": "state"}, "state"),
        ({"type": "memory", "section": "nowhere"}, "context"),
    ],
)
def test_every_type_has_a_section_and_an_unknown_one_is_context(metadata: dict, place: str):
    assert place_of(ContextPacket("x", metadata=metadata)) == place


def test_every_section_has_a_name_in_every_notation_and_a_place_in_every_order():
    for names in (TAGS, *HEADINGS.values()):
        assert set(names) == set(PLACES)
        assert len(set(names.values())) == len(PLACES)
    for order in ORDERS.values():
        assert sorted(order) == sorted(PLACES)
    assert set(WORDS) == set(HEADINGS)
