"""Files of memories and of knowledge with damaged rows."""
# ruff: noqa: S608  # the statements are put together from words in this file

import sqlite3
from contextlib import closing

import pytest

from foldline.errors import StoreError
from foldline.memory import Memory
from foldline.memory.knowledge import Knowledge


def change(path, statement):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    "damage",
    [
        "metadata = '{'",
        "parents = 7",
        "kind = 'morse'",
        "importance = 'high'",
        "terms = x'00'",
        "metadata = '" + "[" * 100_000 + "'",
    ],
    ids=lambda damage: damage[:20],
)
def test_a_damaged_memory_is_an_explained_error(tmp_path, damage):
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add("vital")
        change(tmp_path / "m.db", f"UPDATE memories SET {damage}")
        with pytest.raises(StoreError, match="is damaged") as caught:
            memory.search("vital")
        assert caught.value.damaged


@pytest.mark.parametrize(
    "damage", ["heading = '{'", "first = 'one'", "text = x'00'"], ids=lambda damage: damage[:8]
)
def test_a_damaged_passage_is_an_explained_error(tmp_path, damage):
    with Knowledge.open(tmp_path / "k.db") as knowledge:
        knowledge.add_text("guide", "A failed request is tried again.")
        change(tmp_path / "k.db", f"UPDATE chunks SET {damage}")
        with pytest.raises(StoreError, match="is damaged") as caught:
            knowledge.search("failed request")
        assert caught.value.damaged


def test_a_number_instead_of_bytes_allocates_no_memory(tmp_path):
    with Knowledge.open(tmp_path / "k.db") as knowledge:
        knowledge.add_text("guide", "A failed request is tried again.")
        change(tmp_path / "k.db", "UPDATE documents SET version = 1 << 62")
        with pytest.raises(StoreError, match="is damaged"):
            knowledge.add_text("guide", "A failed request is tried again.")
