"""The page of the bench, its record, and the figures that it puts into the README."""

from __future__ import annotations

import json

import pytest

import page
import run
import shop_window
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from page import Ran

PLOT = Plot("facts", "Kept", "bars", "", "need", (Series("s", ((0, 0.5),)),), ("Foldline",))
SECTION = ReportSection(
    "facts",
    "What is kept",
    "Words.",
    (
        ReportTable(
            "Kept",
            ("history cut to", "5 %", "10 %", "20 %"),
            (
                ("Foldline", "0.912 (0.9–0.95)", "0.95", "0.98"),
                ("good", "0.50", "0.62 (0.5–0.7)", "0.7"),
                ("bad", "0.61", "0.31", "0.4"),
                ("a sketch", "0.9", "0.9", "0.9"),
                ("trim to the tail", "0.2", "0.3", None),
            ),
        ),
        ReportTable("Who", ("library", "version"), (("good", "1"), ("bad", "2"))),
    ),
    (PLOT,),
    (Goal("need", 0.91, "", least=0.9), Goal("time", 90.0, "ms/MB", most=60.0)),
)
RECORD = {"retention": page.machine() | {"problem": "", "seconds": "3", "command": "python x"}}


def test_the_page_begins_with_goals_and_one_plot_and_ends_with_how_it_was_measured():
    text = page.page([SECTION], RECORD)
    assert text.index("1 of 2 goals are held.") < text.index("| time | 90 ms/MB | ≤ 60 ms/MB |")
    assert text.count("benchmarks/facts.svg") == 1
    assert text.index("facts.svg") < text.index("- [What is kept](#what-is-kept)")
    assert text.index("## What is kept") < text.index("## How it was measured")
    assert "`python x --only retention`" in text


def test_outdated_plots_are_removed(tmp_path):
    pytest.importorskip("matplotlib", reason="NO PLOTS: matplotlib is not installed")
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "old.svg").touch()
    page.write(tmp_path, page.page([SECTION], RECORD), [SECTION])
    assert [path.name for path in (tmp_path / "benchmarks").iterdir()] == ["facts.svg"]


def test_the_readme_shows_foldline_the_best_library_and_the_reference_methods(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{shop_window.BEGIN}\nold\n{shop_window.END}\nafter\n")
    for _ in range(2):
        shop_window.put_into_readme(readme, [SECTION], trial=False)
    text = readme.read_text()
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "\nold\n" not in text
    assert "| Foldline | 0.91 | 0.95 | 0.98 |" in text
    assert "| the best other library | 0.61 (bad) | 0.62 (good) | 0.70 (good) |" in text
    assert "expect less on unseen sessions" in text
    assert "sketch" not in text
    assert "1 of 2 goals are held" in text


def test_the_readme_shows_the_exam_at_one_share_best_first():
    rows = (("5 %", "one", "0.99"), ("10 %", "bad", "0.4 (0.3–0.5)"), ("10 %", "good", "0.9"))
    table = ReportTable("", ("history cut to", "method", "answered"), rows)
    text = shop_window.figures([ReportSection("exam", "Exam", "", (table,))], trial=False)
    assert "0.99" not in text
    assert text.index("| good | 0.9 |") < text.index("| bad | 0.4 (0.3–0.5) |")


def test_a_readme_without_a_place_stays_as_it_is(tmp_path, capsys):
    readme = tmp_path / "README.md"
    readme.write_text("nothing here\n")
    shop_window.put_into_readme(readme, [SECTION], trial=True)
    assert readme.read_text() == "nothing here\n"
    assert "no place for figures" in capsys.readouterr().err


def script(folder, name: str, body: str) -> None:
    (folder / f"{name}.py").write_text(f"import json, sys\n{body}\n")


def test_a_failing_part_is_reported_and_keeps_earlier_results(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "BENCH", tmp_path)
    out = tmp_path / "figures"
    out.mkdir()
    written = json.dumps(SECTION.to_json())
    script(tmp_path, "rows", f"open(sys.argv[2], 'w').write({written!r})")
    script(tmp_path, "tokens", "sys.exit('no vocabulary here')")
    script(tmp_path, "speed", "pass")
    assert run.run("rows", out, quick=False).problem == ""
    assert run.read(out / "rows.json") == SECTION
    assert "no vocabulary here" in run.run("tokens", out, quick=False).problem
    assert "wrote no section" in run.run("speed", out, quick=False).problem
    assert "no such script" in run.run("life", out, quick=False).problem


def test_a_section_that_is_damaged_is_left_out(tmp_path, capsys):
    (tmp_path / "rows.json").write_text('{"name": 1')
    assert run.read(tmp_path / "rows.json") is None
    assert run.read(tmp_path / "missing.json") is None
    assert "rows.json" in capsys.readouterr().err


def test_the_record_keeps_how_other_parts_were_measured(tmp_path):
    first = run._record(tmp_path, [Ran("rows", 2.0)], quick=True)
    second = run._record(tmp_path, [Ran("retention", 3.0, "exit 1")], quick=False)
    assert list(first) == ["rows"]
    assert list(second) == ["retention", "rows"]
    assert second["rows"]["command"].endswith("--quick")
    assert second["retention"]["problem"] == "exit 1"


def test_the_readme_and_the_page_are_drawn_from_the_same_figures(tmp_path):
    figures = run.DOCS / "benchmarks"
    parts = [run.read(figures / f"{part}.json") for part in run.PARTS]
    sections = [run.exam_section(figures / "exam.json"), *parts]
    sections = [section for section in sections if section is not None]
    record = json.loads((figures / "record.json").read_text(encoding="utf-8"))
    known = {part: record[part] for part in run.PARTS if part in record}
    assert page.page(sections, known) == (run.DOCS / "benchmarks.md").read_text(encoding="utf-8")
    readme = tmp_path / "README.md"
    readme.write_bytes((run.ROOT / "README.md").read_bytes())
    trial = any("--quick" in how["command"] for how in known.values())
    shop_window.put_into_readme(readme, sections, trial=trial)
    assert readme.read_bytes() == (run.ROOT / "README.md").read_bytes()
