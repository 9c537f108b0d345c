"""The public interface of the maintainer: the reference calls and their guarantees."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.agents.maintainer.world import ORDERS, codebase, git, maintaining
from tests.agents.world import FORMATS

from foldline import BudgetError, InputError, StoreError
from foldline.agents import AgentLimits
from foldline.agents.maintainer import CodebaseMaintainer, ExplorationBudget
from foldline.agents.maintainer.knowledge import KnowledgeRecord
from foldline.testing.scripted import Answer, Status
from foldline.testing.scripted import CallTool as Call

NOTE = {"title": "Cents are lost", "content": "total() adds floats.", "source": "app/orders.py:2"}


@pytest.fixture
def bare(tmp_path):
    """A maintainer without a model."""
    with CodebaseMaintainer("shop", codebase(tmp_path), home=tmp_path / "home") as one:
        yield one


@pytest.mark.requirement("T15")
def test_the_reference_calls_run_unchanged(tmp_path, monkeypatch):
    monkeypatch.setenv("FOLDLINE_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    codebase(tmp_path)
    script = ["It is a shop.", "Models are fine.", "There is a bug.", "First the models."]
    with maintaining(tmp_path, script) as (other, server):
        maintainer = CodebaseMaintainer(
            project_name="my_flask_app", codebase_path="./shop", llm=other._model
        )
        assert maintainer.explore() == "It is a shop."
        assert maintainer.run("请分析 app/models/ 目录下的数据模型设计") == "Models are fine."
        assert maintainer.analyze() == "There is a bug."
        assert maintainer.plan_next_steps() == "First the models."
        assert "orders.py" in maintainer.execute_command("ls app")
        # Mentioning a bug in an answer creates no note: only a call does.
        assert maintainer.get_stats()["notes"]["total_notes"] == 0
        maintainer.create_note(
            title="本周重构计划 - Week 1",
            content="## 目标\n完成数据模型层的优化",
            note_type="task_state",
            tags=["refactoring", "week1", "high_priority"],
        )
        summary = maintainer.note_tool.run({"action": "summary"})
        report = maintainer.generate_report()
        maintainer.close()
    assert summary["total_notes"] == 1
    assert summary["type_distribution"] == {"task_state": 1}
    assert report["activity"] == {
        "commands_executed": 1,
        "notes_created": 1,
        "issues_found": 0,
    }
    assert report["session_info"]["project"] == "my_flask_app"
    assert json.loads(Path(report["report_file"]).read_text("utf-8"))["notes"] == summary
    assert "本周重构计划" in Path(report["report_page"]).read_text("utf-8")
    assert server.violations == () == server.errors
    # Nothing is written to the codebase, or beside it.
    assert git(tmp_path / "shop", "status", "--porcelain", "--ignored") == ""


@pytest.mark.requirement("T15")
@pytest.mark.parametrize("wire", FORMATS)
def test_it_explores_records_and_answers_in_every_dialect(tmp_path, wire):
    script = [
        Answer("", (Call("terminal", {"command": "grep -n TODO app/orders.py"}),)),
        Call("read_file", {"path": "app/orders.py"}),
        Call("record", NOTE | {"type": "action"}),
        "One thing: cents are lost.",
        "As said.",
    ]
    with maintaining(tmp_path, script, wire) as (one, server):
        said = one.analyze("money")
        (note,) = one.note_tool.notes.list()
        stats = one.get_stats()
        assert one.run("And what of the cents?") == "As said."
    assert (said.status, said.mode) == ("done", "analyze")
    assert server.violations == () == server.errors
    assert "TODO: cents" in server.requests[1].text
    assert note.source.startswith("app/orders.py:2@")
    assert {"agent", "shop", one.session_id} <= set(note.tags)
    assert stats["activity"]["commands_executed"] == 1
    assert stats["exploration"]["files"] == 1
    assert stats["conversation"]["calls"] == {"terminal": 1, "read_file": 1, "record": 1}
    # The question comes with the survey, and later with notes.
    assert "Mode: analyze" in server.requests[0].last
    assert "above all money" in server.requests[0].last
    assert "app/orders.py" in server.requests[0].last
    assert note.id in server.requests[4].last


@pytest.mark.requirement("T15")
def test_each_mode_has_its_context(tmp_path):
    with maintaining(tmp_path, ["a", "b", "c", "d"]) as (one, server):
        one.create_note("Order of work", "First orders.", "task_state")
        for mode in ("auto", "explore", "analyze", "plan"):
            one.run("What about orders?", mode)
    auto, explore, analyze, plan = (request.last for request in server.requests)
    assert "## Structure" in auto
    assert "## Hot spots" in explore
    assert "TODO app/orders.py:2" in analyze
    assert "Order of work" in plan
    assert "## Structure" not in plan
    # The system prompt is the same, so that a prompt cache holds it.
    assert len({request.transcript.messages[0].text for request in server.requests}) == 1


@pytest.mark.requirement("E4.2")
def test_an_interrupted_run_is_resumed_after_a_state_check(tmp_path):
    script = [Call("read_file", {"path": "app/orders.py"}), Status(401), "Done."]
    with maintaining(tmp_path, script) as (one, server):
        one.create_note("Total is a loop", "See there.", source="app/orders.py:1-3")
        assert not one.check().must_plan_again
        with pytest.raises(Exception, match="401"):
            one.explore()
        (tmp_path / "shop/app/orders.py").write_text("gone = 1\n")
        found = one.check()
        said = one.resume()
    assert found.unfinished
    assert found.must_plan_again
    assert ("app/orders.py", "changed") in found.changes.files
    assert any("no longer exists" in line for line in found.lines())
    assert said == "Done."
    assert "app/orders.py (changed)" in server.requests[2].text
    # Earlier looks still count.
    assert one.watch.trail.files == {"app/orders.py"}


@pytest.mark.requirement("T15")
def test_without_a_model_it_reports_the_survey_and_what_a_model_would_add(bare):
    explored, analyzed = bare.explore(), bare.analyze()
    assert explored.status == "without a model"
    assert "6 text files" in explored
    assert "Python" in explored
    assert "TODO app/orders.py:2 cents are lost here" in analyzed
    assert "| total | app/orders.py:1 | 5 |" in analyzed
    assert "A model would read the hot spots" in analyzed
    bare.create_note("Pay back debts", "All of them.", "action")
    planned = bare.plan_next_steps()
    assert "Pay back debts" in planned
    assert "app/orders.py (about" in planned
    with pytest.raises(InputError, match="no model"):
        bare.resume()


@pytest.mark.requirement("E5.2")
def test_a_model_that_explores_too_long_is_instructed_to_conclude(tmp_path):
    look = Call("read_file", {"path": "app/users.py"})
    with maintaining(tmp_path, [look, look, "Ok."], budget=ExplorationBudget(tokens=20)) as (
        one,
        server,
    ):
        one.explore()
    assert "Conclude" not in server.requests[0].last.split("read_file")[0]
    assert "tokens for exploring are used" in server.requests[1].last


def test_limits_hold_and_the_answer_reports_them(tmp_path):
    look = Call("read_file", {"path": "app/users.py"})
    with maintaining(tmp_path, [look] * 3, limits=AgentLimits(steps=2)) as (one, _):
        said = one.explore()
    assert said.status == "steps"
    assert said.to_dict()["why"] == "the limit of 2 steps is reached"


def test_commands_that_do_more_than_read_are_refused_without_a_person(bare):
    assert "approval" in bare.execute_command("git stash")
    assert (bare.root.path / "app/orders.py").read_text() == f"{ORDERS}\n"


def test_a_fact_is_stored_by_the_routing_rule(bare):
    assert bare.keep(KnowledgeRecord("t", "c", volatility="work")).layer == "memory"
    assert bare.keep(KnowledgeRecord("t", "c", authority="workspace")).layer == "terminal"
    assert bare.keep(KnowledgeRecord("t", "c")).layer == "notes"


def test_wrong_arguments_are_named(tmp_path, bare):
    root = bare.root.path
    for arguments, error in (
        (("", root), InputError),
        (("shop", tmp_path / "nothing"), StoreError),
        (("shop", root, object()), InputError),
    ):
        with pytest.raises(error):
            CodebaseMaintainer(*arguments, home=tmp_path / "other")
    with pytest.raises(InputError, match="is inside the codebase"):
        CodebaseMaintainer("shop", root, home=root / ".foldline")
    with pytest.raises(BudgetError):
        bare.run("What?", "sing")
    with pytest.raises(InputError):
        bare.run("  ")


def test_note_content_is_escaped_on_the_report_page(tmp_path):
    with maintaining(tmp_path) as (one, _):
        one.create_note("<b>bold</b> [here](http://away) `x` *y*", "Why.")
        page = Path(one.generate_report()["report_page"]).read_text("utf-8")
    assert "&lt;b&gt;bold&lt;/b&gt; [here](http://away) `x` *y*" in page
    assert "default-src 'none'" in page
    assert "<td>app/orders.py</td>" in page
