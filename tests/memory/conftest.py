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


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """Where memories are kept: each test of theirs runs with both."""
    if request.param == "sqlite":
        return tmp_path / "m.db"
    return request.getfixturevalue("postgres_url")


@pytest.fixture
def memory(place, clock):
    with Memory.open(place, user="ann", clock=clock) as opened:
        yield opened
