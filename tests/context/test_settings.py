from __future__ import annotations

from typing import Any

import pytest

from foldline.context.settings import ContextConfig
from foldline.errors import BudgetError


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
        ({"recency_weight": 0.5}, "make 0.5"),
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
