"""
Approvals: a person is asked before something is done that cannot be left to a model.

    approvals = Approvals(ask=TerminalPrompt(), audit="approvals.jsonl")
    terminal = Terminal.open("project", approvals=approvals)

Nothing that a model writes can answer. Without an answer in time it is a no; a yes is for the
exact words that were shown, is used once, and ends after a while. Every question, answer and use
is added to a log that is never rewritten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final, Literal, TextIO, TypeAlias

from foldline.concurrency import DeadlineExceeded, run_with_timeout
from foldline.core.validation import positive, whole
from foldline.errors import InputError
from foldline.frozen import field, frozen
from foldline.tools.json_files import append_line

Scope: TypeAlias = Literal["once", "session"]

HOUR: Final = 3_600.0
DAY: Final = 86_400.0

UNLOGGED: Final = "Nothing is granted without it; name a file that can be written."


@frozen
class ApprovalRequest:
    """
    A question to a person, with all that is to be known about what would be done.

    Args:
        command: The exact argument vectors that would be run, in order.
        shown: The same, one line each, in which nothing can act on a terminal.
        directory: Where they would be run.
        workspace: What they could change at most.
        reason: Which rules they go beyond.
        risks: "write", "execute" or "outside".
        scopes: What a yes may hold for.
        expires: Until when the question can be answered, in seconds since 1970.
        bound: What else the yes is bound to, such as the identity of the directory.
        id: Its name; drawn by chance.
    """

    command: tuple[tuple[str, ...], ...]
    shown: str
    directory: str
    workspace: str
    reason: str
    risks: tuple[str, ...]
    scopes: tuple[Scope, ...] = ("once",)
    expires: float = 0.0
    bound: tuple[str, ...] = ()
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def digest(self) -> str:
        """What a yes is bound to: every byte of the command, where it is run, and the rest."""
        fields = (self.command, self.directory, self.workspace, self.risks, self.bound)
        text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self) -> str:
        """Return the question as a person reads it."""
        return (
            f"  {self.shown.replace(chr(10), chr(10) + '  ')}\n\n"
            f"  in       {self.directory}\n  risk     {', '.join(self.risks)}\n"
            f"  because  {self.reason}\n  digest   {self.digest[:16]}"
        )


@frozen
class ApprovalAnswer:
    """
    What a person said.

    Args:
        allowed: Yes or no.
        scope: "session" allows the very same request again until the session ends.
        person: Who it was, for the log.
    """

    allowed: bool
    scope: Scope = "once"
    person: str = ""


NO: Final = ApprovalAnswer(False)


@frozen
class Grant:
    """A yes: for one digest, one use, and not for ever."""

    request: str
    digest: str
    expires: float
    scope: Scope
    person: str


ApprovalPrompt: TypeAlias = Callable[[ApprovalRequest], ApprovalAnswer | bool]
"""Asks a person; it may take as long as it likes, and is left behind when that is too long."""


@frozen
class ApprovalSettings:
    """
    How people are asked.

    Args:
        seconds: What an answer may take; after that it is a no.
        lasts: How long a yes can be used, in seconds.
        hourly: The most questions in an hour; beyond it the answer is no without asking.

    Raises:
        BudgetError: A number is out of range.
    """

    seconds: float = 300.0
    lasts: float = 600.0
    hourly: int = 30

    def __post_init__(self) -> None:
        positive("approvals.seconds", self.seconds, DAY)
        positive("approvals.lasts", self.lasts, DAY)
        whole("approvals.hourly", self.hourly)


class Approvals:
    """
    Asks, remembers what was granted, and writes down all of it; any thread may use it.

    Args:
        ask: Asks the person: a `TerminalPrompt`, a `PromptQueue`, or any function.
        audit: A file that gets one line of JSON for each event; None keeps none.
        settings: How people are asked.
        clock: Returns seconds since 1970.
    """

    def __init__(
        self,
        ask: ApprovalPrompt,
        *,
        audit: str | os.PathLike[str] | None = None,
        settings: ApprovalSettings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings or ApprovalSettings()
        self.audit = None if audit is None else Path(audit)
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._question_times: list[float] = []
        self._session: dict[str, str] = {}
        self._live: set[str] = set()

    def decide(self, request: ApprovalRequest) -> Grant | str:
        """
        Ask, and return a grant, or in words why there is none.

        Args:
            request: What would be done.

        Raises:
            StoreError: The log cannot be written; then nothing is granted.
        """
        with self._asking:  # one question at a time; the same one again is often answered already
            now = self._clock()
            with self._lock:
                person = self._session.get(request.digest)
            if person is not None and "session" in request.scopes:
                return self._grant(request, "session", person, "remembered")
            if not self._may_ask(now):
                self._log("not asked", request)
                return f"More than {self.settings.hourly} questions were asked in an hour."
            self._log("asked", request)
            answer, why = self._answer(request)
            if answer.allowed is not True:
                self._log(why, request, person=answer.person)
                return {"late": "Nobody answered in time."}.get(why, "A person said no.")
            scope = answer.scope if answer.scope in request.scopes else "once"
            return self._grant(request, scope, answer.person, "granted")

    def redeem(self, grant: Grant, request: ApprovalRequest) -> bool:
        """
        Use a grant up, and say whether it is good for this request.

        Args:
            grant: What `decide` returned.
            request: What is about to be done, made anew.
        """
        with self._lock:
            live = grant.request in self._live
            self._live.discard(grant.request)
        good = live and grant.digest == request.digest and self._clock() <= grant.expires
        self._log("used" if good else "not valid", request, person=grant.person)
        return good

    def approve(self, request: ApprovalRequest) -> str:
        """
        Ask and use the grant at once; return why there is none, "" where there was one.

        Args:
            request: What is about to be done.

        Raises:
            StoreError: The log cannot be written; then nothing is granted.
        """
        grant = self.decide(request)
        if isinstance(grant, str):
            return grant
        return "" if self.redeem(grant, request) else "The approval ended before it was used."

    def finished(self, request: ApprovalRequest, outcome: str) -> None:
        """
        Write down how it ended.

        Args:
            request: What was done.
            outcome: How it ended, such as "ok".
        """
        self._log("finished", request, outcome=outcome)

    def forget(self) -> None:
        """End the session: nothing that was allowed for it is allowed any more."""
        with self._lock:
            self._session.clear()
            self._live.clear()

    # --- inside ----------------------------------------------------------------------------

    def _grant(self, request: ApprovalRequest, scope: Scope, person: str, event: str) -> Grant:
        self._log(event, request, person=person, scope=scope)
        until = self._clock() + self.settings.lasts
        with self._lock:
            if scope == "session":
                self._session[request.digest] = person
            self._live.add(request.id)
        return Grant(request.id, request.digest, until, scope, person)

    def _answer(self, request: ApprovalRequest) -> tuple[ApprovalAnswer, str]:
        try:
            asking = partial(self._ask, request)
            reply = run_with_timeout(asking, self.settings.seconds, "foldline-approval")
        except (DeadlineExceeded, TimeoutError):
            return NO, "late"
        except Exception:  # noqa: BLE001  # a prompt that breaks is no yes
            return NO, "failed"
        answer = reply if isinstance(reply, ApprovalAnswer) else ApprovalAnswer(reply is True)
        return answer, "granted" if answer.allowed is True else "refused"

    def _may_ask(self, now: float) -> bool:
        self._question_times = [moment for moment in self._question_times if moment > now - HOUR]
        if len(self._question_times) >= self.settings.hourly:
            return False
        self._question_times.append(now)
        return True

    def _log(self, event: str, request: ApprovalRequest, **more: str) -> None:
        if self.audit is None:
            return
        line = {
            "time": self._clock(),
            "event": event,
            **more,
            "digest": request.digest,
            **{name: value for name, value in asdict(request).items() if name != "scopes"},
        }
        with self._lock:
            append_line(self.audit, line, "log of approvals", hint=UNLOGGED)


# --- ways of asking ------------------------------------------------------------------------


class TerminalPrompt:
    """
    Asks the person at the terminal; anything but "y" or "s" is a no.

    Args:
        reads: Where the answer comes from; default the standard input.
        writes: Where the question goes; default the standard error.
    """

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads, self._writes = reads, writes

    def __call__(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask; where nobody sits at the terminal the answer is no."""
        reads, writes = self._reads or sys.stdin, self._writes or sys.stderr
        if self._reads is None and not reads.isatty():
            return NO
        session = "session" in request.scopes
        choice = "[y] once  [s] for this session  [N] no" if session else "[y] once  [N] no"
        writes.write(f"\nAn agent asks to run:\n\n{request}\n\n{choice}: ")
        writes.flush()
        word = reads.readline().strip().lower()
        if word not in ("y", "yes", *(("s", "session") if session else ())):
            return NO
        scope: Scope = "once" if word.startswith("y") else "session"
        return ApprovalAnswer(True, scope, os.environ.get("USER", ""))


class PromptQueue:
    """
    Questions that another thread, or a web page, answers.

    queue.pending() shows them; queue.answer(id, True) answers one.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[str, tuple[ApprovalRequest, Future[ApprovalAnswer]]] = {}

    def __call__(self, request: ApprovalRequest) -> ApprovalAnswer:
        """
        Wait for the answer.

        Raises:
            TimeoutError: The question has expired.
        """
        answer = Future[ApprovalAnswer]()
        with self._changed:
            self._open[request.id] = request, answer
            self._changed.notify_all()
        try:
            wait([answer], min(DAY, max(0.0, request.expires - time.time())))
        finally:
            with self._changed:  # until here it is open, and whoever answers is heard
                self._open.pop(request.id, None)
        return answer.result(0)

    def pending(self, seconds: float = 0.0) -> Sequence[ApprovalRequest]:
        """Return the open questions; wait up to so many seconds for the first one."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._open), seconds)
            return tuple(request for request, _ in self._open.values())

    def answer(
        self, request: str, allowed: bool, *, scope: Scope = "once", person: str = ""
    ) -> None:
        """
        Answer a question.

        Args:
            request: Its id.
            allowed: Yes or no.
            scope: What a yes holds for.
            person: Who says it.

        Raises:
            InputError: There is no such open question.
        """
        with self._changed:
            _, waiting = self._open.pop(request, (None, None))
            if waiting is None:
                raise InputError(f"no open question has the id {request[:40]!r}")
            waiting.set_result(ApprovalAnswer(allowed is True, scope, person))
