"""Runs over corpora whose workers, schedulers and runs are killed, for real."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.children import launch
from tests.corpora import Killing, Signing, content, write_corpus

from foldline.corpus import BuildIndex, Compact, MeasureRetention, Scan, run
from foldline.corpus.output import read_rows
from foldline.corpus.pools import cluster
from foldline.errors import StoreError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}

RUN = """
import sys
from tests.corpora import Killing
from foldline.corpus import run

if __name__ == "__main__":
    folder, out, marker = sys.argv[1:]
    run(Killing(victim=-1, marker=marker), [folder], out, workers=2)
"""

DASHBOARD_PORT = 8787
"""The default port of the dashboard of Dask."""

SCHEDULER = """
import asyncio
from distributed import Scheduler

async def serve():
    address = {"host": "127.0.0.1", "port": 0, "dashboard_address": "127.0.0.1:0"}
    async with Scheduler(dashboard=False, **address) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""

WORKER = """
import asyncio
import sys
from distributed import Worker

async def serve():
    async with Worker(sys.argv[1], nthreads=1, death_timeout=5, dashboard=False) as worker:
        await worker.finished()

asyncio.run(serve())
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def scanned(corpus: Path, out: Path, operation: Scan | None = None, **settings: object) -> dict:
    run(operation or Scan(), [str(corpus)], str(out), **settings)
    return content(out)


def scanned_here(corpus: Path, out: Path, operation: Scan | None = None) -> dict:
    """Do the same without another process, which takes a second to start."""
    with ThreadPoolExecutor(1) as pool:
        return scanned(corpus, out, operation, client=pool)


@pytest.mark.parametrize(
    "operation", [Scan(), Compact(budget=0.5), MeasureRetention(budgets=(0.5,)), BuildIndex()]
)
def test_the_output_is_the_same_bytes_for_no_worker_and_two(corpus, tmp_path, operation):
    before = multiprocessing.active_children()
    one = scanned_here(corpus, tmp_path / "none", operation)
    two = scanned(corpus, tmp_path / "two", operation, workers=2)
    assert sum(name.startswith("parts") for name in one) > 1
    assert one == two
    assert multiprocessing.active_children() == before


def test_the_output_is_the_same_bytes_in_any_folder(corpus, tmp_path):
    before, here = multiprocessing.active_children(), scanned_here(corpus, tmp_path / "here")
    assert scanned(corpus, tmp_path / "dask", engine="dask", workers=1) == here
    with ThreadPoolExecutor(2) as pool:
        assert scanned(corpus, tmp_path / "threads", client=pool) == here
    threaded = pytest.importorskip("dask.threaded")
    assert scanned(corpus, tmp_path / "graph", client=threaded.get) == here
    assert multiprocessing.active_children() == before


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(corpus, tmp_path):
    operation = Killing(marker=str(tmp_path / "marker"))
    killed = scanned(corpus, tmp_path / "killed", operation, workers=2)
    assert (tmp_path / "marker").exists()
    assert scanned_here(corpus, tmp_path / "calm", operation) == killed


def test_a_worker_runs_regardless_of_the_memory_of_its_parent(corpus, tmp_path):
    much, book = bytearray(500 * 2**20), tmp_path / "book"
    scanned(corpus, tmp_path / "out", Signing(book=str(book)), workers=2)
    signed = book.read_text().split()
    assert len(set(signed)) <= 2 < len(signed), len(much)


def test_a_killed_run_leaves_no_process_and_resumes(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", 300)
    marker, out = tmp_path / "marker", tmp_path / "out"
    child = launch(
        [sys.executable, "-c", RUN, corpus, out, marker],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    # Workers hold the other end of this pipe: it ends when the last of them has.
    said, _ = child.communicate(timeout=60)
    assert child.returncode == -9, said
    whole = {path.name: path.stat().st_mtime_ns for path in (out / "parts").glob("part-*")}
    assert whole
    operation = Killing(victim=-1, marker=str(marker))
    report = run(operation, [str(corpus)], str(out), workers=2)
    assert 0 < report.resumed < report.parts
    kept = {path.name: path.stat().st_mtime_ns for path in (out / "parts").iterdir()}
    assert sum(kept.get(name) == made for name, made in whole.items()) >= report.resumed
    assert content(out) == scanned_here(corpus, tmp_path / "calm", operation)


def test_a_run_whose_scheduler_is_killed_reports_it_and_resumes(corpus, tmp_path):
    scheduler = launch([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True)
    address = scheduler.stdout.readline().strip()
    for _ in range(2):
        launch([sys.executable, "-c", WORKER, address], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    operation = Killing(victim=scheduler.pid, marker=str(tmp_path / "marker"))
    with pytest.raises(StoreError, match="scheduler is lost"):
        scanned(corpus, tmp_path / "out", operation, scheduler=address)
    assert not json.loads((tmp_path / "out" / "manifest.json").read_text())["complete"]
    again = scanned(corpus, tmp_path / "out", operation, workers=2)
    assert again == scanned_here(corpus, tmp_path / "calm", operation)


def test_a_finished_run_is_not_repeated(corpus, tmp_path):
    before = scanned_here(corpus, tmp_path)
    with ThreadPoolExecutor(1) as pool:
        pool.shutdown()
        report = run(Scan(), [str(corpus)], str(tmp_path), client=pool)
    assert report.resumed == report.parts
    assert content(tmp_path) == before


def test_added_and_removed_files_change_only_their_parts(tmp_path):
    corpus, out = write_corpus(tmp_path / "corpus", 160), tmp_path / "out"
    scanned_here(corpus, out)
    (corpus / "day-0" / "session-000.json").unlink()
    (corpus / "aaa.json").write_text('[{"role": "user", "content": "new here"}]')
    with ThreadPoolExecutor(1) as pool:
        report = run(Scan(), [str(corpus)], str(out), client=pool)
    assert report.resumed >= report.parts - 2 > 1
    assert content(out) == scanned_here(corpus, tmp_path / "fresh")


def test_a_damaged_part_is_rebuilt(corpus, tmp_path):
    before = scanned_here(corpus, tmp_path)
    part = next((tmp_path / "parts").iterdir())
    part.write_bytes(part.read_bytes()[:-9])
    assert scanned_here(corpus, tmp_path) == before


def test_another_run_in_the_same_folder_is_refused(corpus, tmp_path):
    scanned_here(corpus, tmp_path)
    with pytest.raises(StoreError, match="another run"):
        scanned_here(corpus, tmp_path, BuildIndex())
    two = tmp_path / "two"
    with ThreadPoolExecutor(1) as pool, pytest.raises(StoreError, match="Another run writes"):
        scanned(corpus, two, client=pool, progress=lambda *_: scanned_here(corpus, two))


def test_progress_ends_at_the_size_of_the_corpus(corpus, tmp_path):
    seen, lock = [], threading.Lock()

    def note(done: int, whole: int) -> None:
        with lock:
            seen.append((done, whole))

    with ThreadPoolExecutor(2) as pool:
        scanned(corpus, tmp_path, client=pool, progress=note)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == seen[-1][1] > 100_000


def test_every_failing_file_has_a_row_with_its_reason(corpus, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        report = run(Scan(), [str(corpus)], str(tmp_path), client=pool)
    assert (report.sessions, report.failed) == (82, 2)
    broken = [str(corpus / "broken.json"), str(corpus / "cut.json.gz")]
    rows = [
        row
        for part in sorted((tmp_path / "parts").iterdir())
        for row in read_rows(str(part), "path", broken)
    ]
    assert [row["path"] for row in rows] == broken
    assert "broken JSON" in rows[0]["error"]
    assert "gzip" in rows[1]["error"]
    assert {row["tokens"] for row in rows} == {None}


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    """A client of a cluster that gives a task up when a second worker has died of it."""
    import dask

    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), cluster(2, 2**30) as it:
        yield it


def test_a_dask_worker_that_is_killed_is_replaced_and_nothing_is_lost(corpus, dask, tmp_path):
    operation = Killing(marker=str(tmp_path / "marker"))
    killed = scanned(corpus, tmp_path / "killed", operation, client=dask)
    assert (tmp_path / "marker").exists()
    assert scanned_here(corpus, tmp_path / "calm", operation) == killed


@pytest.mark.parametrize("engine", ["local", "dask"])
def test_a_session_that_no_worker_survives_is_recorded_and_tried_again_later(
    corpus, request, tmp_path, engine
):
    marker, out = tmp_path / "marker", tmp_path / "out"
    operation = Killing(marker=str(marker), times=100)
    client = request.getfixturevalue("dask") if engine == "dask" else None
    report = run(operation, [str(corpus)], str(out), client=client, workers=2)
    lost = [path for path, _, why in report.failures if "workers died of it" in why]
    assert lost == [str(corpus / "day-2" / "session-044.json")]
    assert (report.failed, report.totals["conversations"]) == (3, 79)
    assert report.parts == len(list((out / "parts").iterdir()))
    marker.write_bytes(b"x" * operation.times)
    with ThreadPoolExecutor(1) as pool:
        again = run(operation, [str(corpus)], str(out), client=pool)
    assert 0 < again.resumed < again.parts
    assert (again.failed, again.totals["conversations"]) == (2, 80)


def test_a_client_of_the_caller_stays_open(corpus, dask, tmp_path):
    first = scanned(corpus, tmp_path / "a", client=dask)
    assert dask.status == "running"
    assert scanned(corpus, tmp_path / "b", client=dask) == first


def test_a_cluster_takes_no_port_that_another_one_may_have(dask):
    assert dask.scheduler_info()["services"]["dashboard"] != DASHBOARD_PORT
