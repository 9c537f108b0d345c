"""
Approvals: a person decides about actions that cannot be left to a model.

    approvals = Approvals(ask=TerminalPrompt(), audit="approvals.jsonl")
    terminal = Terminal.open("project", approvals=approvals)

Model output can never answer. A missing answer is a denial; an approval is for the exact command
displayed, is used once, and expires. Every request, answer and use is appended to a log.
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
    A request to a person, with everything needed for the decision.

    Args:
        command: The exact argument vectors to run, in order.
        shown: The same for display, one line each, without terminal control characters.
        directory: The working directory.
        workspace: The folder that they could change at most.
        reason: The rules that they violate.
        risks: "write", "execute" or "outside".
        scopes: The possible scopes of an approval.
        expires: The deadline of the answer, in seconds since 1970.
        bound: Additional values an approval is bound to, such as the identity of the directory.
        id: A random id.
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
        """The hash an approval is bound to: of the command, its directory and the other fields."""
        fields = (self.command, self.directory, self.workspace, self.risks, self.bound)
        text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self) -> str:
        """Return the request as text for a person."""
        return (
            f"  {self.shown.replace(chr(10), chr(10) + '  ')}\n\n"
            f"  in       {self.directory}\n  risk     {', '.join(self.risks)}\n"
            f"  because  {self.reason}\n  digest   {self.digest[:16]}"
        )


@frozen
class ApprovalAnswer:
    """
    The answer of a person.

    Args:
        allowed: True to approve.
        scope: "session" also approves the identical request until the session ends.
        person: The name of the person, for the log.
    """

    allowed: bool
    scope: Scope = "once"
    person: str = ""


NO: Final = ApprovalAnswer(False)


@frozen
class Grant:
    """An approval of one digest, for one use, with an expiry."""

    request: str
    digest: str
    expires: float
    scope: Scope
    person: str


ApprovalPrompt: TypeAlias = Callable[[ApprovalRequest], ApprovalAnswer | bool]
"""Asks a person; it may block, and is abandoned after a timeout."""


@frozen
class ApprovalSettings:
    """
    Limits of approvals.

    Args:
        seconds: The timeout of an answer, after which the request is denied.
        lasts: The lifetime of an approval, in seconds.
        hourly: The maximum number of requests per hour; more are denied without asking.

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
    Requests, remembers and logs approvals; thread-safe.

    Args:
        ask: Asks the person: a `TerminalPrompt`, a `PromptQueue`, or any function.
        audit: A log file with one line of JSON per event; None for no log.
        settings: The limits.
        clock: Returns the time, in seconds since 1970.
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
        Request an approval; return a grant, or the reason of a denial.

        Args:
            request: The action to approve.

        Raises:
            StoreError: The log cannot be written; then nothing is granted.
        """
        with self._asking:  # one request at a time; a repeated one may be approved by then
            now = self._clock()
            with self._lock:
                person = self._session.get(request.digest)
            if person is not None and "session" in request.scopes:
                return self._grant(request, "session", person, "remembered")
            if not self._may_ask(now):
                self._log("not asked", request)
                return f"There were more than {self.settings.hourly} requests in an hour."
            self._log("asked", request)
            answer, why = self._answer(request)
            if answer.allowed is not True:
                self._log(why, request, person=answer.person)
                return {"late": "Nobody answered in time."}.get(why, "A person said no.")
            scope = answer.scope if answer.scope in request.scopes else "once"
            return self._grant(request, scope, answer.person, "granted")

    def redeem(self, grant: Grant, request: ApprovalRequest) -> bool:
        """
        Use up a grant; return True if it is valid for a request.

        Args:
            grant: The result of `decide`.
            request: The action to carry out, created again.
        """
        with self._lock:
            live = grant.request in self._live
            self._live.discard(grant.request)
        good = live and grant.digest == request.digest and self._clock() <= grant.expires
        self._log("used" if good else "not valid", request, person=grant.person)
        return good

    def approve(self, request: ApprovalRequest) -> str:
        """
        Request an approval and use it at once; return the reason of a denial, "" if approved.

        Args:
            request: The action to carry out.

        Raises:
            StoreError: The log cannot be written; then nothing is granted.
        """
        grant = self.decide(request)
        if isinstance(grant, str):
            return grant
        return "" if self.redeem(grant, request) else "The approval expired before it was used."

    def finished(self, request: ApprovalRequest, outcome: str) -> None:
        """
        Log the outcome of an approved action.

        Args:
            request: The action.
            outcome: The outcome, such as "ok".
        """
        self._log("finished", request, outcome=outcome)

    def forget(self) -> None:
        """End the session: approvals for it are no longer valid."""
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
        except Exception:  # noqa: BLE001  # a broken prompt denies
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


# --- prompts -------------------------------------------------------------------------------


class TerminalPrompt:
    """
    Asks the person at the terminal; anything but "y" or "s" denies.

    Args:
        reads: The stream of answers; default the standard input.
        writes: The stream of requests; default the standard error.
    """

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads, self._writes = reads, writes

    def __call__(self, request: ApprovalRequest) -> ApprovalAnswer:
        """Ask; deny if the input is not a terminal."""
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
    A queue of requests that another thread, or a web page, answers.

    ``queue.pending()`` returns them; ``queue.answer(id, True)`` approves one.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: dict[str, tuple[ApprovalRequest, Future[ApprovalAnswer]]] = {}

    def __call__(self, request: ApprovalRequest) -> ApprovalAnswer:
        """
        Wait for the answer.

        Raises:
            TimeoutError: The request has expired.
        """
        answer = Future[ApprovalAnswer]()
        with self._changed:
            self._open[request.id] = request, answer
            self._changed.notify_all()
        try:
            wait([answer], min(DAY, max(0.0, request.expires - time.time())))
        finally:
            with self._changed:  # the request is open until here, so that no answer is lost
                self._open.pop(request.id, None)
        return answer.result(0)

    def pending(self, seconds: float = 0.0) -> Sequence[ApprovalRequest]:
        """Return the open requests; wait up to ``seconds`` for the first one."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._open), seconds)
            return tuple(request for request, _ in self._open.values())

    def answer(
        self, request: str, allowed: bool, *, scope: Scope = "once", person: str = ""
    ) -> None:
        """
        Answer a request.

        Args:
            request: The id of the request.
            allowed: True to approve.
            scope: The scope of an approval.
            person: The name of the person, for the log.

        Raises:
            InputError: There is no such open request.
        """
        with self._changed:
            _, waiting = self._open.pop(request, (None, None))
            if waiting is None:
                raise InputError(f"no open request has the id {request[:40]!r}")
            waiting.set_result(ApprovalAnswer(allowed is True, scope, person))
