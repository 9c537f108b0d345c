"""Call arguments as values."""

import pytest

from foldline.values.call_arguments import parse_arguments


@pytest.mark.parametrize("text", ["", "no json", '{"a": ', "[" * 100_000])
def test_arguments_that_are_not_json_are_no_value(text):
    assert parse_arguments(text) is None
