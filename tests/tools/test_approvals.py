"""Approvals: used once, in time, for exact commands, and logged."""

import io
import json
import threading
import time
from dataclasses import replace

import pytest

from foldline.errors import BudgetError, InputError, StoreError
from foldline.tools.approvals import (
    ApprovalAnswer,
    ApprovalRequest,
    Approvals,
    ApprovalSettings,
    Grant,
    PromptQueue,
    TerminalPrompt,
)

pytestmark = pytest.mark.requirement("E3.2")


def request(**changes):
    made = ApprovalRequest(
        command=(("/usr/bin/rm", "-rf", "src"),),
        shown="/usr/bin/rm -rf src",
        directory="/ws",
        workspace="/ws",
        reason="rm changes files.",
        risks=("write",),
        scopes=("once", "session"),
        expires=10.0**12,
    )
    return replace(made, **changes)


class Clock:
    now = 1_000.0

    def __call__(self):
        return self.now


def test_an_approval_is_used_once_and_for_one_request_only():
    approvals = Approvals(lambda _: True)
    asked = request()
    grant = approvals.decide(asked)
    assert isinstance(grant, Grant)
    other = replace(asked, command=(("/usr/bin/rm", "-rf", "src "),))
    assert not approvals.redeem(grant, other)
    grant = approvals.decide(asked)
    assert approvals.redeem(grant, asked)
    assert not approvals.redeem(grant, asked)
    assert not approvals.redeem(replace(grant, request="made up"), asked)


@pytest.mark.parametrize(
    "change",
    [{"directory": "/x"}, {"workspace": "/x"}, {"risks": ("execute",)}, {"bound": ("v2",)},
     {"command": (("/usr/bin/rm", "-rf"), ("src",))}],
)  # fmt: skip
def test_an_approval_is_bound_to_every_field(change):
    assert request().digest != request(**change).digest
    assert request().digest == request().digest


def test_an_approval_expires():
    clock = Clock()
    approvals = Approvals(lambda _: True, settings=ApprovalSettings(lasts=60), clock=clock)
    asked = request()
    grant = approvals.decide(asked)
    clock.now += 61
    assert not approvals.redeem(grant, asked)


@pytest.mark.parametrize(
    "answer", [False, None, 1, "yes", ApprovalAnswer(False), ApprovalAnswer("yes")]
)
def test_anything_but_an_approval_denies(answer):
    assert Approvals(lambda _: answer).decide(request()) == "A person said no."


def test_no_answer_and_a_broken_prompt_deny():
    still = threading.Event()
    settings = ApprovalSettings(seconds=0.05)
    late = Approvals(lambda _: still.wait(5), settings=settings).decide(request())
    still.set()
    assert late == "Nobody answered in time."
    assert isinstance(Approvals(lambda _: 1 / 0).decide(request()), str)


def test_a_session_approval_holds_for_the_same_request_until_forgotten():
    asked = []

    def ask(one):
        asked.append(one)
        return ApprovalAnswer(True, "session")

    approvals = Approvals(ask)
    for _ in range(3):
        assert isinstance(approvals.decide(request()), Grant)
    approvals.decide(request(scopes=("once",)))
    approvals.decide(request(scopes=("once",)))
    assert len(asked) == 3, "where only once is offered, it is asked every time"
    approvals.forget()
    approvals.decide(request())
    assert len(asked) == 4


def test_requests_per_hour_are_limited():
    clock = Clock()
    approvals = Approvals(lambda _: False, settings=ApprovalSettings(hourly=2), clock=clock)
    said = [approvals.decide(request()) for _ in range(3)]
    assert said[1:] == ["A person said no.", "There were more than 2 requests in an hour."]
    clock.now += 3_601
    assert approvals.decide(request()) == "A person said no."
    with pytest.raises(BudgetError):
        ApprovalSettings(hourly=-1)


def test_every_event_is_logged_and_nothing_is_granted_without_a_log(tmp_path):
    log = tmp_path / "audit.jsonl"
    approvals = Approvals(lambda _: ApprovalAnswer(True, person="ana"), audit=log)
    asked = request()
    grant = approvals.decide(asked)
    approvals.redeem(grant, asked)
    approvals.redeem(grant, asked)
    approvals.finished(asked, "ok")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines] == [
        "asked",
        "granted",
        "used",
        "not valid",
        "finished",
    ]
    assert {line["digest"] for line in lines} == {asked.digest}
    assert lines[1]["person"] == "ana"
    assert lines[0]["command"] == [["/usr/bin/rm", "-rf", "src"]]
    assert log.stat().st_mode & 0o077 == 0
    with pytest.raises(StoreError, match="Nothing is granted"):
        Approvals(lambda _: True, audit=tmp_path / "no" / "log").decide(request())
    (tmp_path / "link").symlink_to(log)
    with pytest.raises(StoreError):
        Approvals(lambda _: True, audit=tmp_path / "link").decide(request())


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", (True, "once")),
        ("YES\n", (True, "once")),
        ("s\n", (True, "session")),
        ("n\n", (False, "once")),
        ("\n", (False, "once")),
        ("yep\n", (False, "once")),
        ("", (False, "once")),
    ],
)
def test_at_a_terminal_only_y_and_s_approve(typed, answer):
    screen = io.StringIO()
    said = TerminalPrompt(io.StringIO(typed), screen)(request())
    assert (said.allowed, said.scope) == answer
    for shown in ("/usr/bin/rm -rf src", "rm changes files.", "write", "/ws"):
        assert shown in screen.getvalue()


def test_without_a_terminal_the_prompt_denies(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert not TerminalPrompt(writes=io.StringIO())(request()).allowed
    only = TerminalPrompt(io.StringIO("s\n"), io.StringIO())
    assert not only(request(scopes=("once",))).allowed


def test_a_queue_is_answered_by_another_thread():
    queue = PromptQueue()
    found = []
    worker = threading.Thread(
        target=lambda: found.append(Approvals(queue).decide(request())), daemon=True
    )
    worker.start()
    (open_one,) = queue.pending(10)
    with pytest.raises(InputError, match="no open request"):
        queue.answer("made up", True)
    queue.answer(open_one.id, True, person="bo")
    worker.join(10)
    assert found[0].person == "bo"
    assert queue.pending() == ()


def test_an_accepted_answer_counts_even_if_the_request_expires_meanwhile():
    queue, found = PromptQueue(), []
    asked = request(expires=time.time() + 0.1)
    worker = threading.Thread(target=lambda: found.append(queue(asked)), daemon=True)
    with queue._changed:
        worker.start()
        (open_one,) = queue.pending(10)
        time.sleep(0.3)
        queue.answer(open_one.id, True, person="bo")
    worker.join(10)
    assert found[0].person == "bo"
