"""Asking a person about what goes beyond reading: the question, and what no answer means."""

from __future__ import annotations

import posixpath
import shlex
import time
from collections.abc import Sequence
from typing import Final

from foldline.tools.approvals import ApprovalRequest, Approvals, Scope
from foldline.tools.terminal.planning import Step
from foldline.tools.terminal.refusal import Refused, visible

ONCE_ONLY: Final = frozenset(
    ("bash", "dash", "env", "git", "node", "perl", "python", "python3", "ruby", "sh", "zsh")
)
"""Programs that run others: allowing one of them "for the session" would allow anything."""

LONGEST: Final = 4_000
"""A longer command is refused: nobody reads it to its end, and nothing of it is left out."""

POLICY: Final = "terminal/2"
"""The version of the rules; a yes that was given under others is none."""


class NotApproved(Exception):
    """
    There was no yes.

    Args:
        reason: Why the command needs one, and why there is none.
        request: The question.
    """

    def __init__(self, reason: str, request: ApprovalRequest) -> None:
        super().__init__(reason)
        self.request = request


def approved(steps: Sequence[Step], approvals: Approvals | None) -> ApprovalRequest:
    """
    Ask about steps of which one goes beyond reading, and return the request that was granted.

    Args:
        steps: All that would be run, in order.
        approvals: Who asks; None is a no.

    Raises:
        NotApproved: There was no yes.
        Refused: It is too long to be asked about.
        StoreError: The log cannot be written.
    """
    request = request_for(steps, approvals.settings.seconds if approvals is not None else 0.0)
    if len(request.shown) > LONGEST:
        raise Refused("The command is too long to be asked about.", "Split it.")
    if approvals is None:
        raise NotApproved(f"{request.reason} Nobody is here who could approve it.", request)
    grant = approvals.decide(request)
    if isinstance(grant, str):
        raise NotApproved(f"{request.reason} {grant}", request)
    if not approvals.redeem(grant, request):
        raise NotApproved("The approval has ended before it was used.", request)
    return request


def request_for(steps: Sequence[Step], seconds: float) -> ApprovalRequest:
    """
    Return the question about steps.

    Args:
        steps: All that would be run, in order.
        seconds: How long it can be answered.
    """
    beyond = [more for step in steps for more in step.beyond]
    stages = [stage for step in steps for stage in step.stages]
    programs = {posixpath.basename(stage.arguments[0]) for stage in stages}
    scopes: tuple[Scope, ...] = ("once",) if programs & ONCE_ONLY else ("once", "session")
    places = [f"{step.place.directory}:{step.place.identity}" for step in steps]
    return ApprovalRequest(
        command=tuple(stage.arguments for stage in stages),
        shown="\n".join(visible(shlex.join(stage.arguments), LONGEST) for stage in stages),
        directory=steps[0].place.directory,
        workspace=steps[0].place.workspace,
        reason=" ".join(dict.fromkeys(more.reason for more in beyond)),
        risks=tuple(sorted({more.risk for more in beyond})),
        scopes=scopes,
        expires=time.time() + seconds,
        bound=(POLICY, *places, *(str(stage.profile) for stage in stages)),
    )
