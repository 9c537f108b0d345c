"""
Open a session of a million messages: how long it takes, how much memory, what an append costs.

    python bench/long_session.py --store sqlite --messages 1000000
    python bench/long_session.py --store postgres --messages 1000000

The session is filled in one process and opened in another, whose peak of resident memory is told
over that of the import alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import foldline
from many_agents import Server, wire

NAME = "long"
WINDOW = 100_000
APPENDS = 400


def fill(place: str, messages: int) -> None:
    """Write a session of so many messages."""
    with foldline.Session.open(place, NAME, window=WINDOW) as session:
        for start in range(session.length, messages, 5_000):
            end = min(start + 5_000, messages)
            session.import_messages(
                [wire(NAME, seq % 2_000 * 2 + seq % 2) for seq in range(start, end)]
            )


def look(place: str) -> dict[str, float]:
    """Open it, look at the view, append; return seconds, milliseconds and MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with foldline.Session.open(place, NAME, window=WINDOW) as session:
        opened = time.perf_counter() - start
        session.view()
        viewed = time.perf_counter() - start
        times = []
        for number in range(APPENDS):
            message = {"role": "assistant" if number % 2 else "user", "content": f"more {number}"}
            start = time.perf_counter()
            session.append(message)
            times.append(time.perf_counter() - start)
        times.sort()
        return {
            "messages": session.length,
            "open s": round(opened, 3),
            "open and view s": round(viewed, 3),
            "append p50 ms": round(times[APPENDS // 2] * 1000, 3),
            "append p99 ms": round(times[int(APPENDS * 0.99)] * 1000, 3),
            "peak MB over the import": round(
                (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, 1
            ),
        }


def main() -> None:
    """Fill, open elsewhere, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--store", default="sqlite", help="postgres, sqlite, or a URL")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--look", metavar="PLACE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        print(json.dumps(look(options.look)))
        return
    folder = Path(tempfile.mkdtemp())
    server = Server() if options.store == "postgres" else None
    place = server.url if server else options.store
    place = str(folder / "long.db") if options.store == "sqlite" else place
    try:
        for size in (10_000, options.messages):
            fill(place, size)
            # A process of its own: the memory of the one that filled it does not count.
            words = [sys.executable, __file__, "--look", place]
            print(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip())
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
