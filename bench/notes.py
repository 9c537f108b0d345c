"""
Measure the speed of notes at scale, against its goals: `python bench/notes.py [--notes N]
[--json]`.

The notes are generated, half English and half Chinese, as files in a temporary folder. Every
search checks all files first, as in use. A goal is the maximum of a figure.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from foldline.notes import KINDS, Notes
from foldline.notes.markdown_file import format_file
from foldline.notes.note import Note
from foldline.notes.note_fields import file_name, to_fields

ENGLISH = """
build cache token session migration parser timeout retry index schema deploy rollback worker queue
login payment invoice search latency memory thread socket driver config release
"""
CHINESE = """
构建 缓存 会话 迁移 解析 超时 重试 索引 部署 回滚 队列 登录 支付 发票 搜索 延迟 内存 线程 配置 发布
"""


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        return "ok" if self.value <= self.goal else "OVER"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000, help="number of notes")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    options = parser.parse_args()
    if os.getloadavg()[0] > (os.cpu_count() or 1) / 2:
        print("This machine is busy: figures are worse than necessary.", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder), options.notes)
        for figure in figures(Path(folder), options.notes):
            show(figure, as_json=options.json)


def show(figure: Figure, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(figure) | {"verdict": figure.verdict}), flush=True)
        return
    goal = "" if figure.goal is None else f"≤ {figure.goal:g}"
    print(f"{figure.what:52}{figure.value:>9,.1f} {figure.unit:5}{goal:>8}  {figure.verdict}")


def fill(folder: Path, count: int) -> None:
    """Write notes as `Notes.create` would, but without syncing each to disk."""
    chance = random.Random(7)  # noqa: S311  # the same notes in every run
    with Notes.open(folder) as notes:
        first = notes.create("first", "the first note")
    for number in range(count - 1):
        note = made_up(number, chance, first)
        name = file_name(note.created_at, note.title, note.id)
        (folder / name).write_bytes(format_file(to_fields(note), note.content))


def made_up(number: int, chance: random.Random, like: Note) -> Note:
    words = (CHINESE if number % 2 else ENGLISH).split()
    between = "" if number % 2 else " "
    text = [chance.choice(words) for _ in range(80)]
    lines = [between.join(text[at : at + 10]) for at in range(0, 80, 10)]
    return Note(
        id=f"01M7{number:022d}",
        title=f"{between.join(chance.sample(words, 3))} {number}",
        type=chance.choice(KINDS),
        tags=(chance.choice(ENGLISH.split()),),
        created_at=like.created_at,
        updated_at=like.updated_at,
        content="\n".join([f"module_{number}.py", *lines]),
    )


def figures(folder: Path, count: int) -> Iterator[Figure]:
    size = f"{count:,} notes"
    notes = Notes.open(folder)
    yield Figure(f"first look, {size}, no cache", timed(notes.summary), "ms")
    time.sleep(0.1)  # files this young are read once more
    notes.summary()
    notes.close()
    notes = Notes.open(folder)
    yield Figure(f"first look, {size}, from the cache", timed(notes.summary), "ms")
    yield Figure(f"first search, {size}", timed(lambda: notes.search("login timeout")), "ms")
    chance = random.Random(11)  # noqa: S311  # the same searches in every run
    for name, words, between in (
        ("English", ENGLISH.split(), " "),
        ("Chinese", CHINESE.split(), ""),
    ):
        queries = [between.join(chance.sample(words, 3)) for _ in range(200)]
        start = time.process_time()
        spent = [timed(lambda query=query: notes.search(query)) for query in queries]
        mean = (time.process_time() - start) * 1_000 / len(queries)
        yield Figure(f"search, {size}, {name}, processor, mean", mean, "ms")
        yield Figure(f"search, {size}, {name}, p50", quantile(spent, 0.5), "ms")
        yield Figure(f"search, {size}, {name}, p99", quantile(spent, 0.99), "ms", 50)
    spent = [
        timed(lambda n=n: notes.search(f"module_{n}.py")) for n in range(0, count, count // 100)
    ]
    yield Figure(f"search, {size}, one identifier, p99", quantile(spent, 0.99), "ms", 50)
    spent = [timed(lambda: notes.list(limit=20)) for _ in range(50)]
    yield Figure(f"list the newest 20, {size}, p99", quantile(spent, 0.99), "ms", 50)
    spent = [timed(lambda n=n: notes.create(f"new {n}", "said")) for n in range(50)]
    yield Figure("make a note, on the disk, p50", quantile(spent, 0.5), "ms")
    yield Figure("search right after a change", timed(lambda: notes.search("login")), "ms")


def timed(work: Callable[[], object]) -> float:
    """Return the duration of a call, in milliseconds."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


if __name__ == "__main__":
    main()
