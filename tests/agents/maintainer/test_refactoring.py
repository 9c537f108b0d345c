"""The refactoring assistant: every step is committed or completely undone."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager

import pytest
from tests.agents.maintainer.days import kill, until
from tests.agents.maintainer.world import codebase, git, maintaining
from tests.agents.world import talking
from tests.children import launch

from foldline import InputError, ModelError
from foldline.agents.maintainer import RefactoringAssistant
from foldline.agents.maintainer.step_log import StepLog
from foldline.testing.scripted import Answer, Status
from foldline.testing.scripted import CallTool as Call
from foldline.tools.approvals import Approvals

GOOD = {"path": "app/orders.py", "old_string": "    out = 0\n", "new_string": "    out = 0.0\n"}
BAD = {"path": "app/orders.py", "old_string": "    out = 0\n", "new_string": "    BROKEN = 0\n"}
MEND = {"path": "app/orders.py", "old_string": "BROKEN = 0", "new_string": "out = 0.0"}
NEW = {"path": "app/money.py", "old_string": "", "new_string": "BROKEN = 1\n"}
CHECK = f"{sys.executable} check.py"
STEPS = [("Count in floats", "In app/orders.py."), ("Name it", "As well.")]


def edit(given, why="It is the step."):
    return Call("edit", given | {"why": why})


def read(path="app/orders.py"):
    return Call("read_file", {"path": path})


@contextmanager
def refactoring(folder, script, ask=lambda _: True, **options):
    approvals = None if ask is None else Approvals(ask, audit=folder / "asked.jsonl")
    with maintaining(folder, script) as (one, server):
        options = {"checks": [CHECK]} | options
        yield RefactoringAssistant(one, approvals=approvals, **options), one, server


@pytest.mark.requirement("E3.3")
def test_a_step_that_passes_its_checks_is_one_commit_and_a_done_task(tmp_path):
    seen = []
    script = [read(), edit(GOOD), "It counts in floats."]
    with refactoring(tmp_path, script, lambda r: seen.append(r) or True) as (helper, one, server):
        (step,) = helper.plan("Floats", STEPS[:1])
        (outcome,) = helper.run()
        card = one.note_tool.notes.read(step)
        plan = one.note_tool.notes.search("Floats")[0].note
    root = tmp_path / "shop"
    assert (outcome.status, outcome.commit) == ("done", git(root, "rev-parse", "HEAD").strip())
    assert git(root, "log", "--format=%s", "-1").strip() == "Count in floats"
    assert git(root, "show", "--stat", "--format=").count("|") == 1
    assert git(root, "status", "--porcelain") == ""
    assert card.status == "done"
    assert outcome.commit[:12] in card.outcome
    assert step in plan.content
    # The person saw the difference before anything was written.
    assert "-    out = 0" in seen[0].shown
    assert "+    out = 0.0" in seen[0].shown
    assert server.violations == ()


@pytest.mark.requirement("E3.3")
def test_a_failed_check_is_reported_to_the_model_and_repaired(tmp_path):
    script = [read(), edit(BAD), "Done.", edit(MEND), "Mended."]
    with refactoring(tmp_path, script) as (helper, _, server):
        (step,) = helper.plan("Floats", STEPS[:1])
        (outcome,) = helper.run()
        progress = {found.step: found for found in helper.progress()}[step]
    assert outcome.status == "done"
    assert (progress.state, progress.failures) == ("done", 1)
    assert "looked at" in server.requests[3].text
    assert "BROKEN" not in (tmp_path / "shop/app/orders.py").read_text()


@pytest.mark.requirement("E3.3")
def test_a_step_that_keeps_failing_is_put_back_and_noted_and_stops_the_plan(tmp_path):
    script = [read(), edit(BAD), edit(NEW), "Done.", "I cannot mend it."]
    with refactoring(tmp_path, script) as (helper, one, _server):
        first, second = helper.plan("Floats", STEPS)
        root = tmp_path / "shop"
        before = git(root, "rev-parse", "HEAD")
        (outcome,) = helper.run()
        notes = one.note_tool.notes
        states = notes.tasks.graph().states
        blockers = [note.title for note in notes.list(type="blocker")]
    assert outcome.status == "undone"
    assert "looked at" in outcome.why
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "rev-parse", "HEAD") == before
    assert not (root / "app/money.py").exists()
    assert (states[first].state, states[second].state) == ("failed", "blocked")
    assert blockers == ["Step failed: Count in floats"]
    # The undone changes are kept.
    patch = next((tmp_path / "home/undone").iterdir()).read_text()
    assert "+    BROKEN = 0" in patch
    assert "app/money.py" in patch
    git(root, "apply", "--check", str(next((tmp_path / "home/undone").iterdir())))


@pytest.mark.requirement("E3.3")
@pytest.mark.parametrize("ask", [None, lambda _: False])
def test_without_approval_nothing_is_edited(tmp_path, ask):
    script = [read(), edit(GOOD), "I was not allowed to."]
    with refactoring(tmp_path, script, ask) as (helper, _one, _server):
        helper.plan("Floats", STEPS[:1])
        (outcome,) = helper.run()
    assert outcome.status == "undone"
    assert "nothing was edited" in outcome.why
    assert git(tmp_path / "shop", "status", "--porcelain") == ""


@pytest.mark.requirement("E3.3")
def test_the_diff_is_shown_completely(tmp_path):
    seen, hidden = [], "out = 0" + 500 * " " + "; print('hidden')"
    given = GOOD | {"new_string": f"    {hidden}\n    # a\x0bb\n"}
    script = [read(), edit(given), "No."]
    with refactoring(tmp_path, script, lambda r: seen.append(r) or False) as (helper, _, _server):
        helper.plan("Floats", STEPS[:1])
        list(helper.run())
    assert f"+    {hidden}\n" in seen[0].shown
    assert "+    # a\\u000bb" in seen[0].shown


@pytest.mark.requirement("E3.3")
def test_a_diff_too_long_to_review_is_refused(tmp_path):
    seen, new = [], "x = 1\n" * 4_000 + "print('hidden')\n"
    script = [read(), edit(NEW | {"new_string": new}), "No."]
    with refactoring(tmp_path, script, lambda r: seen.append(r) or True) as (helper, _, server):
        helper.plan("Floats", STEPS[:1])
        assert [outcome.status for outcome in helper.run()] == ["undone"]
    assert seen == []
    assert "too long for a person" in server.requests[2].text
    assert not (tmp_path / "shop/app/money.py").exists()


@pytest.mark.requirement("E3.3")
def test_a_file_that_changed_while_the_person_decided_is_not_overwritten(tmp_path):
    path = tmp_path / "shop/app/orders.py"

    def ask(request):
        path.write_text("mine\n")
        return True

    script = [read(), edit(GOOD), "No."]
    with refactoring(tmp_path, script, ask, attempts=1) as (helper, _, server):
        helper.plan("Floats", STEPS[:1])
        list(helper.run())
    assert "changed by another writer" in server.requests[2].text
    assert path.read_text() == "mine\n"
    assert [one.state for one in helper.progress()] == ["undone"]


@pytest.mark.requirement("E3.3", "E4.2")
def test_a_step_that_breaks_off_is_put_back_and_begun_again(tmp_path):
    script = [read(), edit(GOOD), Status(401), read(), edit(GOOD), "Done."]
    with refactoring(tmp_path, script) as (helper, one, _server):
        (step,) = helper.plan("Floats", STEPS[:1])
        with pytest.raises(ModelError):
            list(helper.run())
        assert git(tmp_path / "shop", "status", "--porcelain") == ""
        assert one.note_tool.notes.read(step).status == "pending"
        assert [outcome.status for outcome in helper.run()] == ["done"]


def test_a_codebase_that_differs_from_its_commit_is_not_touched(tmp_path):
    root = codebase(tmp_path)
    (root / "README.md").write_text("mine")
    with refactoring(tmp_path, []) as (helper, _one, server):
        helper.plan("Floats", STEPS[:1])
        with pytest.raises(InputError, match="differ from the last commit"):
            list(helper.run())
    assert (root / "README.md").read_text() == "mine"
    assert server.requests == ()


def test_untracked_files_are_not_edited(tmp_path):
    root = codebase(tmp_path)
    (root / "secret.txt").write_text("out = 0\n")
    given = {"path": "secret.txt", "old_string": "out = 0", "new_string": "out = 1"}
    with refactoring(tmp_path, [read("secret.txt"), edit(given), "No."]) as (helper, _, server):
        helper.plan("Floats", STEPS[:1])
        assert [outcome.status for outcome in helper.run()] == ["undone"]
    assert "could not be restored" in server.requests[2].text
    assert (root / "secret.txt").read_text() == "out = 0\n"


def test_a_refactoring_needs_checks_that_can_be_read(tmp_path):
    for checks in ([], ["make 'test"], [""], "make test"):
        with pytest.raises(InputError), refactoring(tmp_path, [Answer("x")], checks=checks):
            pass


CHILD = """
import sys
from pathlib import Path
from foldline.agents.maintainer import CodebaseMaintainer, RefactoringAssistant
from foldline.models import model
from foldline.tools.approvals import Approvals

folder, url = Path(sys.argv[1]), sys.argv[2]
with (
    model("openai:scripted", base_url=url, api_key="any") as client,
    CodebaseMaintainer("shop", folder / "shop", client, home=folder / "home", window=32000) as one,
):
    checks = [f"{sys.executable} check.py"]
    helper = RefactoringAssistant(one, checks=checks, approvals=Approvals(lambda _: True))
    if not helper.progress():
        helper.plan("Floats", [("Count in floats", "In app/orders.py.")])
    for outcome in helper.run():
        print(outcome.status, flush=True)
"""

WAITS = """
import pathlib, time
home = pathlib.Path(__file__).parent.parent
(home / "checking").touch()
while not (home / "go").exists():
    time.sleep(0.01)
"""


@pytest.mark.slow
@pytest.mark.requirement("E3.3", "E4.2")
def test_a_step_whose_process_is_killed_is_put_back_by_the_next_one_and_done(tmp_path):
    root = codebase(tmp_path)
    (root / "check.py").write_text(WAITS)
    git(root, "commit", "-qam", "a check that waits")
    script = [read(), edit(GOOD), "Done.", read(), edit(GOOD), "Done again."]
    with talking(script) as (server, _):

        def started():
            line = [sys.executable, "-c", CHILD, str(tmp_path), server.openai_url]
            return launch(line, stdout=subprocess.PIPE, text=True)

        child = started()
        until((tmp_path / "checking").exists)
        assert git(root, "status", "--porcelain").strip() == "M app/orders.py"
        kill(child)
        (tmp_path / "go").touch()
        said, _ = started().communicate(timeout=60)
    assert said == "done\n"
    assert git(root, "log", "--format=%s", "-1").strip() == "Count in floats"
    assert git(root, "status", "--porcelain") == ""
    assert server.violations == ()


@pytest.mark.requirement("E3.3", "E4.2")
def test_a_commit_that_was_made_before_the_process_died_counts(tmp_path, monkeypatch):
    def dies(*_, **__):
        raise KeyboardInterrupt

    script = [read(), edit(GOOD), "Done."]
    with refactoring(tmp_path, script) as (helper, one, _):
        (step,) = helper.plan("Floats", STEPS[:1])
        # It dies between the commit and its log entry, and cannot even restore files.
        with monkeypatch.context() as patch:
            patch.setattr(StepLog, "add", _but(StepLog.add, "pass", dies))
            patch.setattr(RefactoringAssistant, "_undo", dies)
            with pytest.raises(KeyboardInterrupt):
                list(helper.run())
        commit = git(tmp_path / "shop", "rev-parse", "HEAD").strip()
        after = RefactoringAssistant(one, checks=[CHECK])
        assert list(after.run()) == []
        assert one.note_tool.notes.read(step).status == "done"
    assert after.progress()[0].commit == commit


def _but(add, event, instead):
    return lambda log, step, what, **data: (
        instead() if what == event else add(log, step, what, **data)
    )
