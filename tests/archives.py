"""Archives for tests, on each kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from foldline.stores.memory import MemoryStore
from foldline.stores.opening import open_store
from foldline.stores.protocol import Store


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where an archive may be, on either store: nothing is there yet."""
    return _place(request, tmp_path)


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An open store with nothing in it, of every kind."""
    memory = request.param == "memory"
    made = MemoryStore() if memory else open_store(_place(request, tmp_path))
    yield made
    made.close()


def _place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    if request.param == "sqlite":
        return tmp_path / "a.db"
    url: str = request.getfixturevalue("postgres_url")
    return url
