from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from foldline.notes import catalog as catalog_module
from foldline.notes.catalog import Catalog, CatalogCache
from foldline.notes.folder import Folder


def write(folder: Path, name: str, id: str, body: str = "said") -> Path:  # noqa: A002
    path = folder / name
    path.write_text(f"---\nid: {id}\ntitle: {name}\n---\n\n{body}\n")
    return path


class Bench:
    """A folder, and the catalog of a new process over it."""

    def __init__(self, path: Path) -> None:
        self.path, self.index = path, path / ".index"

    def catalog(self, most: int = 1_000) -> Catalog:
        return Catalog(Folder(self.path), CatalogCache(self.index), 10_000, most)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.requirement("T6")
def test_the_files_are_the_source_of_truth_for_all_writers(bench: Bench) -> None:
    catalog = bench.catalog()
    assert catalog.refresh() == {}
    first = write(bench.path, "a.md", "A", "apple")
    assert [entry.terms.split()[-1] for entry in catalog.refresh().values()] == ["appl"]
    write(bench.path, "a.md", "A", "grape")  # as long as before, perhaps in the same moment
    assert catalog.refresh()["A"].terms.split()[-1] == "grape"
    first.rename(bench.path / "b.md")
    assert catalog.refresh()["A"].name == "b.md"
    (bench.path / "b.md").unlink()
    assert catalog.refresh() == {}


@pytest.mark.requirement("T6")
def test_an_invalid_file_is_reported_and_left_alone(bench: Bench) -> None:
    write(bench.path, "2025-A.md", "A")
    write(bench.path, "copy.md", "A")
    (bench.path / "mine.md").write_text("# no note\n")
    (bench.path / "link.md").symlink_to(bench.path / "mine.md")
    (bench.path / "large.md").write_text("---\n" + "x" * 20_000)
    (bench.path / "read.txt").write_text("not looked at")
    before = {path.name: path.read_bytes() for path in bench.path.iterdir()}
    catalog = bench.catalog()
    assert [entry.name for entry in catalog.refresh().values()] == ["2025-A.md"]
    assert {one.name: one.why for one in catalog.troubles} == {
        "copy.md": "it has the same id as 2025-A.md",
        "large.md": "it has 20,004 bytes; the limit is 10,000",
        "link.md": "it is a link",
        "mine.md": "it has no front matter between lines of ---",
    }
    catalog.keep()
    now = {path.name: path.read_bytes() for path in bench.path.iterdir()}
    assert {name: data for name, data in now.items() if name in before} == before


def aged(folder: Path) -> None:
    """Make files look as if they were written long ago."""
    stamp = folder.stat().st_ctime_ns + 2 * catalog_module.YOUNG
    while folder.stat().st_ctime_ns < stamp:
        os.utime(folder)


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Record every file that is parsed."""
    seen: list[bytes] = []
    original = catalog_module.parse_file

    def watched(data: bytes) -> object:
        seen.append(data)
        return original(data)

    monkeypatch.setattr(catalog_module, "parse_file", watched)
    return seen


@pytest.mark.requirement("T6")
def test_another_process_reads_only_later_changes(bench: Bench, parses: list[bytes]) -> None:
    for number in range(5):
        write(bench.path, f"{number}.md", f"N{number}")
    aged(bench.path)
    first = bench.catalog()
    first.refresh()
    first.keep()
    assert len(parses) == 5
    write(bench.path, "3.md", "N3", "new")
    again = bench.catalog()
    assert {one: entry.terms for one, entry in again.refresh().items()}["N3"].endswith("new")
    assert len(parses) == 6
    assert len(again.entries) == 5


@pytest.mark.requirement("T6")
@pytest.mark.parametrize(
    "damage", [b"", b"not a database" * 100, b"SQLite format 3\0" + b"x" * 99]
)
def test_a_damaged_cache_costs_time_and_nothing_else(bench: Bench, damage: bytes) -> None:
    write(bench.path, "a.md", "A")
    aged(bench.path)
    first = bench.catalog()
    first.refresh()
    first.keep()
    bench.index.write_bytes(damage)
    again = bench.catalog()
    assert set(again.refresh()) == {"A"}
    again.keep()
    assert set(CatalogCache(bench.index).rows()) == {"a.md"}


def keep_changed(bench: Bench, statement: str) -> None:
    """Write the cache of a folder, and change rows of it."""
    first = bench.catalog()
    first.refresh()
    first.keep()
    with sqlite3.connect(bench.index) as connection:
        connection.execute(statement)
    connection.close()


def test_a_cache_with_invalid_content_is_rebuilt(bench: Bench) -> None:
    write(bench.path, "a.md", "A")
    aged(bench.path)
    keep_changed(bench, "UPDATE files SET fields = '{'")
    assert set(bench.catalog().refresh()) == {"A"}


def test_a_cache_that_is_a_link_is_not_followed(bench: Bench, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_bytes(b"")
    bench.index.symlink_to(target)
    write(bench.path, "a.md", "A")
    catalog = bench.catalog()
    assert set(catalog.refresh()) == {"A"}
    catalog.keep()
    assert target.read_bytes() == b""


def test_more_files_than_the_limit_are_reported(bench: Bench) -> None:
    for number in range(4):
        write(bench.path, f"{number}.md", f"N{number}")
    catalog = bench.catalog(most=3)
    assert len(catalog.refresh()) == 3
    assert "more files" in catalog.troubles[-1].why


def test_in_a_large_folder_replaced_files_are_seen_at_once_and_edited_ones_in_turn(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "COMPARE_ALL", 3)
    monkeypatch.setattr(catalog_module, "TURN", 3)
    for number in range(9):
        write(bench.path, f"{number}.md", f"N{number}")
    aged(bench.path)
    catalog = bench.catalog()
    catalog.refresh()
    write(bench.path, "new.tmp", "N4", "replaced").replace(bench.path / "4.md")
    write(bench.path, "10.md", "N10")
    (bench.path / "5.md").unlink()
    seen = catalog.refresh()
    assert seen["N4"].terms.endswith("replac")
    assert "N10" in seen
    assert "N5" not in seen
    aged(bench.path)
    write(bench.path, "8.md", "N8", "edited")
    for _ in range(4):
        catalog.refresh()
    assert catalog.entries["N8"].terms.endswith("edit")


@pytest.mark.requirement("T6")
def test_a_note_with_an_invalid_unicode_name_is_not_cached(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.notes.catalog.is_young", lambda *_: False)
    path = write(bench.path, "a.md", "A").rename(bench.path / os.fsdecode(b"\xff.md"))
    catalog = bench.catalog()
    catalog.refresh()
    catalog.keep()
    assert set(catalog.refresh()) == {"A"}
    path.unlink()
    catalog.refresh()
    catalog.keep()
    assert bench.catalog().refresh() == {}


@pytest.mark.parametrize("row", [(None, "{}"), ("soon", "{}"), (float("inf"), "{}"), (1, "[1]")])
def test_an_invalid_cache_is_ignored(bench: Bench, row: tuple[object, str]) -> None:
    write(bench.path, "a.md", "A")
    assert CatalogCache(bench.index).rows() == {}
    with sqlite3.connect(bench.index) as connection:
        connection.execute("INSERT INTO files VALUES ('q.md', 1, 1, 1, ?, 'd', ?, 't')", row)
    connection.close()
    assert set(bench.catalog().refresh()) == {"A"}


def test_a_cache_locked_by_another_process_is_kept(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foldline.notes.catalog.PATIENCE", 0.01)
    cache = CatalogCache(bench.index)
    cache.rows()
    connection = sqlite3.connect(bench.index)
    connection.execute("BEGIN EXCLUSIVE")
    assert cache.rows() == {}
    assert bench.index.exists()
    connection.close()


def test_an_invalid_row_is_read_again_and_others_are_kept(
    bench: Bench, parses: list[bytes]
) -> None:
    write(bench.path, "a.md", "A")
    write(bench.path, "b.md", "B")
    aged(bench.path)
    keep_changed(bench, "UPDATE files SET fields = '{}' WHERE name = 'a.md'")
    parses.clear()
    again = bench.catalog()
    assert set(again.refresh()) == {"A", "B"}
    assert parses == [(bench.path / "a.md").read_bytes()]
    again.keep()
    assert set(CatalogCache(bench.index).rows()) == {"a.md", "b.md"}
