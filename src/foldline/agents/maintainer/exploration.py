"""
Exploring with a purpose: what was seen, how much of it was new, what comes next, when to stop.

A `Trail` is folded over the calls of an agent, and can be folded again from a recorded session by
whoever takes the work up.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from foldline.agents.maintainer.survey import CodebaseSurvey
from foldline.core.validation import positive, whole
from foldline.frozen import frozen, replace
from foldline.relevance.terms import terms
from foldline.tokens.estimate import estimate
from foldline.tools.description import describe_tool, return_errors
from foldline.tools.output import ToolOutput
from foldline.tools.spec import Tool
from foldline.values.messages import Message, ToolCall

_WORD: Final = re.compile(r"\w[\w./-]*+")
_PATH: Final = re.compile(r"[\w./-]*\.\w{1,6}")


@frozen
class ExplorationBudget:
    """
    How long to explore before concluding.

    At most ``tokens`` are looked at, and no longer than the last ``window`` looks bring a mean
    ``novelty``, a fraction of their lines.

    Raises:
        BudgetError: A number is out of range.
    """

    tokens: int = 40_000
    window: int = 5
    novelty: float = 0.15

    def __post_init__(self) -> None:
        whole("exploration.tokens", self.tokens, 1)
        whole("exploration.window", self.window, 1)
        positive("exploration.novelty", self.novelty, 1.0)


@frozen
class Look:
    """One look: what it took in tokens, and the fraction of lines that were new."""

    tokens: int
    novelty: float


@frozen
class Trail:
    """What was looked at so far: files, the hashes of lines, and each look in order."""

    files: frozenset[str] = frozenset()
    lines: frozenset[bytes] = frozenset()
    looks: tuple[Look, ...] = ()

    @property
    def tokens(self) -> int:
        """What was looked at, in tokens."""
        return sum(look.tokens for look in self.looks)

    def novelty(self, last: int) -> float:
        """Return the mean novelty of the last so many looks, 1 before the first."""
        tail = self.looks[-last:]
        return sum(look.novelty for look in tail) / len(tail) if tail else 1.0

    def after(self, call: str, arguments: Mapping[str, Any], text: str) -> Trail:
        """
        Return the trail with one look more.

        Args:
            call: The name of the tool.
            arguments: What it was given.
            text: What it returned.
        """
        lines = (" ".join(line.split())[:500] for line in text.splitlines() if line.strip())
        signs = (line.encode("utf-8", "replace") for line in lines)
        found = {hashlib.blake2b(sign, digest_size=8).digest() for sign in signs}
        fresh = len(found - self.lines) / len(found) if found else 0.0
        look = Look(estimate(text), round(fresh, 4))
        files = self.files | read_files(call, arguments)
        return Trail(files, self.lines | found, (*self.looks, look))


def read_files(call: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    """Return the files that a call names; a search over a folder names none."""
    if call == "read_file":
        return frozenset({str(arguments.get("path", "")).removeprefix("./")} - {""})
    command = str(arguments.get("command", ""))
    paths = map(_PATH.match, _WORD.findall(command))
    return frozenset(found[0] for found in paths if found is not None)


def stop_reason(trail: Trail, budget: ExplorationBudget) -> str:
    """
    Say why to stop looking and conclude, "" while looking on is worth it.

    Args:
        trail: What was looked at.
        budget: How long to explore.
    """
    if trail.tokens >= budget.tokens:
        return f"{trail.tokens:,} of {budget.tokens:,} tokens for looking around are used up"
    if len(trail.looks) >= budget.window and trail.novelty(budget.window) < budget.novelty:
        return f"the last {budget.window} looks brought {trail.novelty(budget.window):.0%} new"
    return ""


# --- what next -----------------------------------------------------------------------------


@frozen
class Probe:
    """
    A file worth looking at.

    ``value`` is what it promises for each token, relative to the best one; ``cost`` is in tokens.
    """

    path: str
    value: float
    cost: int
    why: str


TOKENS_A_LINE: Final = 10
"""About what a line of code takes, in tokens."""

LOOK: Final = 200
"""Tokens that any look costs, whatever comes of it."""

MOST_PROBES: Final = 5
"""Files that are proposed at once."""


def next_probes(survey: CodebaseSurvey, trail: Trail, question: str = "") -> tuple[Probe, ...]:
    """
    Propose what to look at next, the best first.

    What a file promises is its heat (see `Spot`), what its functions' complexity adds, and the
    share of the question's words in its path; divided by what it costs to read, as a square root,
    so that large files are not hidden. Files that were read promise nothing.

    Args:
        survey: What was counted.
        trail: What was looked at.
        question: What it is about; "" for the codebase as a whole.
    """
    keywords = set(terms(question)) if question else set()
    tangled: dict[str, int] = {}
    for one in survey.complexity.functions:
        tangled[one.path] = max(tangled.get(one.path, 0), one.complexity)
    heat = {spot.path: spot for spot in survey.spots}
    found = []
    for path, lines in survey.sizes.items():
        if path in trail.files:
            continue
        named = len(keywords & set(terms(path))) / len(keywords) if keywords else 0.0
        spot, knot = heat.get(path), tangled.get(path, 0)
        promise = (spot.score if spot else 0.0) + min(knot, 40) / 40 + 3 * named
        if promise <= 0:
            continue
        cost = LOOK + lines * TOKENS_A_LINE
        reasons = [f"its name has {named:.0%} of the question"] if named else []
        reasons += [f"changed by {spot.commits:,} commits"] if spot and spot.commits else []
        reasons += [f"a function of complexity {knot}"] if knot > 10 else []
        why = ", ".join([*reasons, f"{lines:,} lines"])
        found.append(Probe(path, promise / cost**0.5, cost, why))
    best = sorted(found, key=lambda one: (-one.value, one.path))[:MOST_PROBES]
    top = best[0].value if best else 1.0
    return tuple(replace(one, value=round(one.value / top, 3)) for one in best)


def describe_exploration(
    survey: CodebaseSurvey, trail: Trail, budget: ExplorationBudget, question: str = ""
) -> str:
    """Return a text on how far the exploration is, and what to look at next."""
    looked = f"Looked at {len(trail.files):,} files in {len(trail.looks):,} looks"
    spent = f"{trail.tokens:,} of {budget.tokens:,} tokens"
    done = f"{looked}; {spent}; {trail.novelty(budget.window):.0%} of the last looks was new."
    if stop := stop_reason(trail, budget):
        return f"{done}\nStop looking: {stop}. Conclude, and record what you found."
    proposed = next_probes(survey, trail, question)
    probes = [f"- {one.path} (about {one.cost:,} tokens): {one.why}" for one in proposed]
    return "\n".join([done, *(probes or ["Nothing is left that promises much. Conclude."])])


LOOKS: Final = ("terminal", "read_file")


def trail_from(messages: Sequence[Message]) -> Trail:
    """Return the trail of the newest question: the looks after what the user said last."""
    begin = 0
    for at, one in enumerate(messages):
        if one.role == "user" and not one.results and one.text.strip():
            begin = at
    newest = messages[begin:]
    results = {result.call_id: result.text for one in newest for result in one.results}
    trail = Trail()
    for call in (call for one in newest for call in one.calls):
        if call.name in LOOKS and call.id in results:
            trail = trail.after(call.name, arguments(call), results[call.id])
    return trail


def arguments(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments of a call; what is no object is none."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# --- in an agent ---------------------------------------------------------------------------


@dataclass(slots=True)
class ExplorationWatch:
    """What a maintainer did in this process, and where its exploration stands."""

    budget: ExplorationBudget
    trail: Trail = field(default_factory=Trail)
    commands: int = 0
    question: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note_look(self, call: str, given: dict[str, Any], output: ToolOutput) -> ToolOutput:
        """Note what a look brought, and add to it when it is time to conclude."""
        with self._lock:
            self.commands += call == "terminal"
            if output.ok:
                self.trail = self.trail.after(call, given, output.text)
            stop = stop_reason(self.trail, self.budget)
        if not stop:
            return output
        message = f"[Exploration: {stop}. Conclude, and record what you found.]"
        return replace(output, text=f"{output.text}\n\n{message}")

    def watch(self, tool: Tool) -> Tool:
        """Return a tool that looks around as one that is watched."""
        inner = tool.async_action

        def act(given: dict[str, Any]) -> ToolOutput:
            return self.note_look(tool.name, given, tool.action(given))

        async def aact(given: dict[str, Any]) -> ToolOutput:
            assert inner is not None  # noqa: S101  # used only where there is one
            return self.note_look(tool.name, given, await inner(given))

        return replace(tool, action=act, async_action=aact if inner is not None else None)


def probe_tool(survey: Callable[[], CodebaseSurvey], watch: ExplorationWatch) -> Tool:
    """Return the tool next_probe."""

    def act(given: dict[str, Any]) -> ToolOutput:
        question = given.get("question") or watch.question
        return ToolOutput(describe_exploration(survey(), watch.trail, watch.budget, question))

    return describe_tool("next_probe", "foldline.agents").tool(return_errors(act))
