from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.sample import foldline, start

from foldline.notes import Notes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ports.md").write_text("# Ports\n\nThe billing service listens on port 8443.\n")
    (docs / "lunch.md").write_text("Lunch is at noon. It rained.\n" * 30)
    return docs


@pytest.mark.requirement("T4", "E2.2")
def test_a_context_goes_to_stdout_and_its_quality_to_stderr(folder: Path):
    done = foldline("context", "build", "--query", "Which port has billing?", "--file", folder)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("[Task]\nWhich port has billing?\n\n[Evidence]\n")
    assert "8443" in done.stdout
    assert "Lunch" not in done.stdout
    assert "1 left out; score" in done.stderr


def test_json_holds_the_text_the_messages_the_packets_and_the_report(folder: Path):
    done = foldline(
        "context", "build", "--query", "billing port", "--file", folder, "--json", "-q"
    )
    told = json.loads(done.stdout)
    assert told["schema"] == "foldline.context/1"
    assert told["text"] in {"\n\n".join(told["text"].split("\n\n"))}
    assert {row["section"] for row in told["packets"]} == {"task", "evidence", "output", None}
    assert told["sources"] == [{"name": "files", "packets": 2, "error": ""}]
    assert 0 < told["report"]["score"] <= 1
    assert done.stderr == ""


def test_notes_history_and_rules_are_built_in(tmp_path: Path, session: Path):
    with Notes.open(tmp_path / "notes") as notes:
        notes.create("Deploy is blocked", "The certificate has run out.", type="blocker")
    rules = tmp_path / "rules.md"
    rules.write_text("You maintain the build.")
    done = foldline(
        "context", "build", "--query", "What about src/app.py?", "--notes", tmp_path / "notes",
        "--history", session, "--system", rules, "--explain", "--budget", 2_000,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("[Role & Policies]\nYou maintain the build.")
    assert "[State]" in done.stdout
    assert "certificate has run out" in done.stdout
    assert "[Context]\n" in done.stdout
    assert "left out" in done.stderr


def test_memories_are_built_in(tmp_path: Path):
    from foldline.memory import Memory

    with Memory.open(tmp_path / "memory.db", user="ann") as memory:
        memory.add("Ann likes her coffee without sugar.")
    done = foldline(
        "context", "build", "--query", "How does Ann like coffee?", "--memory",
        tmp_path / "memory.db", "--user", "ann",
    )  # fmt: skip
    assert "Memory: Ann likes her coffee without sugar." in done.stdout


def test_passages_of_a_knowledge_base_are_built_in_with_their_citation(folder: Path):
    from foldline.memory.knowledge import Knowledge

    with Knowledge.open(folder / "kb.db") as knowledge:
        knowledge.add(folder / "ports.md")
    done = foldline(
        "context", "build", "--query", "Which port has billing?", "--kb", folder / "kb.db"
    )
    assert done.exit_code == 0, done.stderr
    evidence = done.stdout.split("[Evidence]\n")[1]
    assert "ports.md, line" in evidence.splitlines()[0]
    assert "8443" in evidence


def test_language_notation_and_order_can_be_chosen(folder: Path):
    def built(*words: str) -> str:
        return foldline(
            "context", "build", "--query", "计费端口 8443?", "--file", folder, *words
        ).stdout

    assert built("--lang", "zh").startswith("[任务]")
    assert built("--form", "xml").startswith("<task>")
    assert built("--order", "cache").startswith("[Output]\n请基于以上信息")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("build",), 2, "Missing option '--query'"),
        (("build", "--query", " "), 3, "no question"),
        (
            ("build", "--query", "long question " * 50, "--budget", "20"),
            4,
            "Mandatory content takes",
        ),
        (("build", "--query", "q", "--file", "missing"), 2, "does not exist"),
        (("build", "--query", "q", "--system", "missing"), 3, "missing cannot be read"),
        (("build", "--query", "q", "--history", "-", "--system", "-"), 2, "can be stdin"),
        (("lint", "missing"), 3, "missing cannot be read"),
        (("lint", "m" * 300), 3, "be read"),
        (("compare", "missing", "--with", "decay=1"), 3, "missing cannot be read"),
        (("compare", "-", "--with", "decay"), 2, "KEY=VALUE"),
        (("compare", "-", "--with", "decai=1"), 2, "Did you mean 'decay'"),
        (("compare", "-", "--with", "decay=much"), 2, "decay must be a number"),
    ],
)
def test_errors_are_reported_with_their_exit_codes(
    words: tuple[str, ...],
    code: int,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    done = foldline("context", *words, stdin=b"Which port?\n")
    assert done.exit_code == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("E1.3")
def test_a_prompt_is_linted_with_line_reason_and_remedy(tmp_path: Path):
    prompt = tmp_path / "prompt.md"
    prompt.write_text("You answer.\nBe helpful.\nAnswer in one sentence.\nExplain in detail.\n")
    done = foldline("context", "lint", prompt)
    assert done.exit_code == 0
    assert f"{prompt}:2: warning: vague: Be helpful." in done.stdout
    assert f"{prompt}:4: warning: contradiction (and line 3)" in done.stdout
    assert "2 warnings, 0 hints." in done.stderr
    assert foldline("context", "lint", prompt, "--strict").exit_code == 3
    told = json.loads(foldline("context", "lint", prompt, "--json").stdout)
    assert [problem["rule"] for problem in told["problems"]] == ["vague", "contradiction"]


def test_a_good_prompt_from_stdin_passes():
    good = "你是代码审查助手。列出发现的问题,例如 app.py:12。".encode()
    done = foldline("context", "lint", "-", "--strict", stdin=good)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "No problems found." in done.stderr


def test_two_configurations_are_compared_over_questions(folder: Path, tmp_path: Path):
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"query": "Which port has billing?", "facts": ["8443"]}\n\nWhen is lunch?\n'
    )
    words = ("context", "compare", questions, "--file", folder, "--with", "max_tokens=40")
    done = foldline(*words)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("| | as it is | max_tokens=40 |")
    assert "| completeness |" in done.stdout
    told = json.loads(foldline(*words, "--json").stdout)
    assert (told["schema"], told["cases"]) == ("foldline.comparison/1", 2)


@pytest.mark.parametrize(
    "line", ['{"query": 3}', '{"ask": "x"}', '{"query": "x", "facts": [1]}', "{"]
)
def test_an_invalid_question_is_named_by_its_line(line: str):
    text = f"Which port?\n{line}\n".encode()
    done = foldline("context", "compare", "-", "--with", "decay=1", stdin=text)
    assert done.exit_code == 3
    assert "ine 2" in done.stderr


def test_it_runs_as_a_program(folder: Path):
    process = start("context", "build", "--query", "billing port", "--file", str(folder))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert b"8443" in out
