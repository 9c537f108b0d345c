"""
Open sessions of up to a million messages, from a file and from PostgreSQL on the same disk.

    python bench/long_session.py [--sizes 1000 100000 1000000] [--archive FILE]

Each session is filled as by an agent, compacted whenever due, and copied to the
server. Then a separate process opens, views and appends to it. Resident memory is the peak
of that process with everything that it imported. Filling a million messages takes about ten
minutes of a processor; an archive that is kept with ``--archive`` is filled once.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

import foldline
from foldline.stores.opening import open_store
from foldline.stores.sqlite import SqliteStore
from foldline.stores.transfer import copy_sessions
from many_agents import Server

WINDOW = 100_000
STEP = 200
"""Number of messages between two views."""

APPENDS = 400
WORDS = [f"word{number * 7_919 % 5_003}" for number in range(5_000)]


def text(seq: int, words: int) -> str:
    """Return a text that differs from message to message."""
    start = seq * 7_919 % (len(WORDS) - words)
    return f"{seq}: " + " ".join(WORDS[start : start + words])


def wire(seq: int) -> dict[str, Any]:
    """Return a message of an agent that gets a request every forty messages and reads files."""
    match seq % 40:
        case 0:
            return {"role": "user", "content": f"Request {text(seq, 20)}"}
        case 39:
            return {"role": "assistant", "content": f"Done {text(seq, 30)}"}
        case place if place % 2:
            call = {"name": "read_file", "arguments": f'{{"path": "src/mod{seq % 977}.py"}}'}
            tool_call = {"id": f"c{seq}", "type": "function", "function": call}
            content = f"Step {text(seq, 8)}"
            return {"role": "assistant", "content": content, "tool_calls": [tool_call]}
        case _:
            return {"role": "tool", "tool_call_id": f"c{seq - 1}", "content": text(seq, 60)}


def fill(archive: Path, size: int) -> None:
    """Write a session of ``size`` messages, or the missing part of it."""
    store = SqliteStore(archive, durability="process")
    with foldline.Session.open(None, str(size), store=store, window=WINDOW) as session:
        for start in range(session.length, size, STEP):
            session.import_messages(map(wire, range(start, min(start + STEP, size))))
            session.view()
    store.close()


def look(place: str, size: int) -> dict[str, float]:
    """Open, view and append to a session; return seconds, milliseconds and MB."""
    start, busy = time.perf_counter(), time.process_time()
    with foldline.Session.open(place, str(size), window=WINDOW) as session:
        found = {
            "open s": time.perf_counter() - start,
            "open CPU s": time.process_time() - busy,
        }
        session.view()
        found["peak MB"] = peak()
        busy = time.process_time()
        times = sorted(append(session, number) for number in range(APPENDS))
        found |= {
            "append p50 ms": times[APPENDS // 2],
            "append p99 ms": times[int(APPENDS * 0.99)],
            "append CPU ms": 1000 * (time.process_time() - busy) / APPENDS,
            "peak MB with appends": peak(),
        }
        last = session.append({"role": "user", "content": f"the last at {time.time_ns()}"})
        start = time.process_time()
        session.recall(last)
        recalled = time.process_time()
        session.compact(force=True)
        return found | {
            "first recall CPU s": recalled - start,
            "first compaction CPU s": time.process_time() - recalled,
            "peak MB after both": peak(),
        }


def append(session: foldline.Session, number: int) -> float:
    """Append a new message, and return the time in milliseconds."""
    role = "assistant" if number % 2 else "user"
    message = {"role": role, "content": f"more {number} at {time.time_ns()}"}
    start = time.perf_counter()
    session.append(message)
    return 1000 * (time.perf_counter() - start)


def peak() -> float:
    """Return the peak resident memory of this program, in MB, without that of its parent."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def ratio(places: dict[str, str], size: int) -> float:
    """Append to both stores in turn; return the median on PostgreSQL over that on SQLite."""
    with ExitStack() as stack:
        opened = {
            name: stack.enter_context(foldline.Session.open(place, str(size), window=WINDOW))
            for name, place in places.items()
        }
        times = [
            {name: append(session, number) for name, session in opened.items()}
            for number in range(APPENDS)
        ]
    p50 = {name: median(pair[name] for pair in times) for name in places}
    return p50["PostgreSQL"] / p50["SQLite"]


def looked(place: str, size: int) -> dict[str, float]:
    """Do that in a separate process: the memory used for filling must not count."""
    words = [sys.executable, __file__, "--look", place, "--sizes", str(size)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Fill, copy, open in another process, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000, 1_000_000])
    parser.add_argument("--archive", type=Path, help="a SQLite file to fill and to keep")
    parser.add_argument("--look", metavar="PLACE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        print(json.dumps(look(options.look, options.sizes[0])))
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = options.archive or Path(folder) / "filled.db"
        for size in options.sizes:
            fill(archive, size)
        copied = Path(folder) / "sqlite.db"
        shutil.copyfile(archive, copied)
        server = Server()
        try:
            print(f"the server works {served(server):.2f} ms for an append")
            measure(archive, {"SQLite": str(copied), "PostgreSQL": server.url}, options.sizes)
        finally:
            server.close()


def served(server: Server) -> float:
    """Return the processor time of an append in the server, in milliseconds."""
    with foldline.Session.open(server.url, "served", window=WINDOW * WINDOW) as session:
        append(session, 0)
        before = server.busy()
        for number in range(5 * APPENDS):
            append(session, number)
        after = server.busy()
    with foldline.Archive.open(server.url) as archive:
        archive.delete("served")
    return 1000 * (after - before) / (5 * APPENDS)


def tables(url: str) -> list[tuple[str, int, int, int]]:
    """Return the rows of every table, and the sizes of table and indexes, in bytes."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE")
        return connection.execute(
            "SELECT relname, reltuples::bigint, pg_table_size(oid), pg_indexes_size(oid)"
            " FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'foldline_archive'::regnamespace AND reltuples > 100"
            " ORDER BY pg_total_relation_size(oid) DESC"
        ).fetchall()


def measure(archive: Path, places: dict[str, str], sizes: list[int]) -> None:
    """Copy the archive to the server, and print the cost of opening and appending on both."""
    source, target = open_store(archive), open_store(places["PostgreSQL"])
    for _ in copy_sessions(source, target):
        pass
    source.close()
    target.close()
    print(f"SQLite: {archive.stat().st_size / sum(sizes):.0f} bytes a message")
    for table, rows, content, indexes in tables(places["PostgreSQL"]):
        mb = f"{content / 1e6:.0f} MB, {indexes / 1e6:.0f} MB of indexes"
        print(f"PostgreSQL: {table}: {rows:,} rows, {mb}")
    for size in sizes:
        found = {name: looked(place, size) for name, place in places.items()}
        for name, figures in found.items():
            words = "  ".join(f"{what} {value:.3g}" for what, value in figures.items())
            print(f"{size:>9,} messages  {name:10}  {words}", flush=True)
        print(f"{size:>9,} messages  append p50 PostgreSQL / SQLite {ratio(places, size):.2f}")


if __name__ == "__main__":
    main()
