from __future__ import annotations

from typing import Any

import pytest

from foldline.context.packets import ContextPacket
from foldline.context.settings import (
    HEADINGS,
    ORDERS,
    SECTION_NAMES,
    TAGS,
    WORDS,
    ContextConfig,
    section_of,
)
from foldline.errors import BudgetError


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
    assert section_of(ContextPacket("x", metadata=metadata)) == place


def test_every_section_has_a_name_in_every_notation_and_a_place_in_every_order():
    for names in (TAGS, *HEADINGS.values()):
        assert set(names) == set(SECTION_NAMES)
        assert len(set(names.values())) == len(SECTION_NAMES)
    for order in ORDERS.values():
        assert sorted(order) == sorted(SECTION_NAMES)
    assert set(WORDS) == set(HEADINGS)


@pytest.mark.requirement("T1")
def test_the_defaults_are_those_of_the_book():
    config = ContextConfig()
    assert (config.max_tokens, config.reserve_ratio, config.min_relevance) == (3000, 0.2, 0.1)
    assert (config.recency_weight, config.relevance_weight) == (0.3, 0.7)
    assert config.enable_compression is True


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 3000.5}, "max_tokens"),
        ({"reserve_ratio": 1.1}, "reserve_ratio"),
        ({"min_relevance": -0.1}, "min_relevance"),
        ({"recency_weight": 0.5}, "add up to 0.5"),
        ({"diversity": float("nan")}, "diversity"),
        ({"language": "klingon"}, "language"),
        ({"order": "standart"}, "Did you mean 'standard'"),
        ({"section_budgets": {"role": 0.1}}, "mandatory"),
        ({"section_budgets": {"evidence": 2}}, "evidence"),
        ({"section_budgets": {"evidences": 0.2}}, "Did you mean 'evidence'"),
        ({"section_budgets": [1]}, "section_budgets"),
        ({"source_seconds": -1}, "source_seconds"),
    ],
)
def test_an_impossible_setting_is_refused_by_name(settings: dict[str, Any], word: str):
    with pytest.raises(BudgetError, match=word):
        ContextConfig(**settings)
