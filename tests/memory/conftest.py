"""A memory whose time a test tells."""

import pytest
from tests.memory.remembered import START

from foldline.memory import Memory


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    with Memory.open(tmp_path / "m.db", user="ann", clock=clock) as opened:
        yield opened
