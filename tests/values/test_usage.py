from __future__ import annotations

from typing import Any

import pytest

from foldline.values.messages import Usage
from foldline.values.usage import read_usage


@pytest.mark.parametrize(
    ("value", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, Usage(input=9, output=3)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 3,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(input=5, output=3, cache_read=4),
        ),
        (
            {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
            Usage(input=5, output=2, cache_read=4),
        ),
        (
            {
                "input_tokens": 7,
                "output_tokens": 25,
                "cache_read_input_tokens": 90,
                "cache_creation_input_tokens": 3,
            },
            Usage(7, 25, 90, 3),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Usage(input=4, cache_read=5)),
        ({"prompt_tokens": 9, "completion_tokens": True}, Usage(input=9)),
        ({"prompt_tokens": 2, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(cache_read=2)),
        ({"prompt_tokens": "9", "completion_tokens": None}, None),
        ({"prompt_tokens": -4}, None),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(input=9)),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_cache_reads_are_counted_separately(value: Any, usage: Usage | None) -> None:
    assert read_usage(value) == usage
