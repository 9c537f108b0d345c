from __future__ import annotations

import io

import pytest

from foldline.cli.exits import HungUp
from foldline.cli.screen import Screen


class Closed(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, _: str, /) -> int:
        raise BrokenPipeError


def test_a_reader_that_is_gone_is_told_apart_from_an_error() -> None:
    with pytest.raises(HungUp):
        Screen(file=Closed()).print("words")
