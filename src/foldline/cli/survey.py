"""Measuring one session of a scan: what it is, what it takes, what compaction would save."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from foldline.api import compact_transcript
from foldline.cli.agent_homes import Candidate
from foldline.cli.reading import counter_for
from foldline.core.budget import Amount, Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import BudgetError
from foldline.formats.files import read_file

HEAD: Final = 64 * 1024
"""Bytes at the beginning of a file in which the folder of its project is looked for."""

_FOLDER: Final = re.compile(r'"cwd"\s*:\s*("(?:[^"\\]|\\.){1,400}")')


@dataclass(frozen=True, slots=True)
class Surveyed:
    """
    A session with its size.

    ``tokens`` is what its current conversation takes, ``after`` what it would take compacted.
    """

    found: Candidate
    agent: str
    project: str
    messages: int
    tokens: int
    after: int
    status: str

    @property
    def saved(self) -> int:
        """Tokens that compaction would save."""
        return self.tokens - self.after


def survey(
    found: Candidate,
    goal: Amount,
    policy: Policy,
    config: Config | None = None,
    *,
    window: bool,
) -> Surveyed:
    """
    Read a session and compact it, in memory only.

    Args:
        found: The file.
        goal: The budget, or the window.
        policy: How to compact.
        config: The thresholds, and what may be spent.
        window: Whether ``goal`` is the window.

    Raises:
        InputError: It cannot be read.
    """
    recording = read_file(found.path)
    there = recording.current.transcript
    counter = counter_for(there, None)
    tokens = counter.messages(there.messages)
    after, status = tokens, "unchanged"
    try:
        overhead = counter.overhead(there.system, there.tools) if window else 0
        budget = (
            (config or Config()).budget(goal.tokens, overhead=overhead)
            if window
            else Budget.of_tokens(goal.of(tokens))
        )
        receipt = compact_transcript(there, counter, budget, policy, config=config).receipt
        status = receipt.status
        after = receipt.tokens_after if status == "compacted" else tokens
    except BudgetError:
        status = "failed"
    agent = recording.format
    return Surveyed(found, agent, project(found), len(there.messages), tokens, after, status)


def project(found: Candidate) -> str:
    """Return the folder that a session says it worked in, else the folder that the file is in."""
    try:
        with found.path.open("rb") as file:
            head = file.read(HEAD).decode("utf-8", "replace")
    except OSError:
        head = ""
    match = _FOLDER.search(head)
    if match:
        try:
            return str(json.loads(match[1]))
        except ValueError:
            pass
    return str(found.path.parent)
