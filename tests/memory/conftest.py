"""A memory with a clock that tests control."""

import pytest
from tests.memory.remembered import START

from foldline.memory import Memory
from foldline.memory.knowledge.schema import open_store


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(place, clock):
    with Memory.open(place, user="ann", clock=clock) as opened:
        yield opened


@pytest.fixture
def rows(place):
    """
    Count the rows of each table of a knowledge store.

    The index of terms must match the chunks, and that of vectors the vectors.
    """

    def count():
        store = open_store(place, None)
        with store.database.reading() as connection:
            if isinstance(place, str):
                check_postgres(connection)
            counts = {
                name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]  # noqa: S608
                for name in ("documents", "chunks", "vectors")
            }
        if not isinstance(place, str):
            with store.database.writing() as connection:
                connection.execute("INSERT INTO found (found, rank) VALUES ('integrity-check', 1)")
                (signs,) = connection.execute("SELECT count(*) FROM signs").fetchone()
                assert signs == counts["vectors"]
        with store.database.reading() as connection:
            torn = connection.execute(
                "SELECT count(*) FROM documents d WHERE d.chunks <>"
                " (SELECT count(*) FROM chunks c WHERE c.document = d.id)"
            ).fetchone()
            sums = connection.execute(
                "SELECT (SELECT coalesce(sum(chunks), 0) FROM namespaces)"
                " - (SELECT count(*) FROM chunks)"
            ).fetchone()
        store.database.close()
        assert (torn[0], sums[0]) == (0, 0)
        return counts

    return count


def check_postgres(connection):
    """Fail if terms, their frequencies or vectors do not match the chunks."""
    differ = (
        "(SELECT space, term, number FROM entries EXCEPT SELECT space, term, number FROM words)"
        " UNION ALL"
        " (SELECT space, term, number FROM words EXCEPT SELECT space, term, number FROM entries)"
    )
    assert connection.execute(differ).fetchall() == []
    counted = (
        "SELECT space, term, held FROM frequencies WHERE held <> 0 EXCEPT"
        " SELECT space, term, count(*) FROM words GROUP BY space, term"
    )
    assert connection.execute(counted).fetchall() == []
    if connection.execute("SELECT to_regclass('near')").fetchone()[0]:
        near = "SELECT number FROM near EXCEPT SELECT chunk FROM vectors"
        assert connection.execute(near).fetchall() == []
