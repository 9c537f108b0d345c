"""
Bounded exploration: which files were read, how much was new, what to read next, when to stop.

A `Trail` is folded over the calls of an agent, and can be rebuilt from a recorded session.
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
    Limits of an exploration.

    It ends after ``tokens`` of output, or when the mean novelty of the last ``window`` looks, the
    fraction of their lines that are new, falls below ``novelty``.

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
    """One look: the size of its output in tokens, and the fraction of its lines that were new."""

    tokens: int
    novelty: float


@frozen
class Trail:
    """The exploration so far: files, the hashes of lines, and each look in order."""

    files: frozenset[str] = frozenset()
    lines: frozenset[bytes] = frozenset()
    looks: tuple[Look, ...] = ()

    @property
    def tokens(self) -> int:
        """The size of all output, in tokens."""
        return sum(look.tokens for look in self.looks)

    def novelty(self, last: int) -> float:
        """Return the mean novelty of the last ``last`` looks, 1 before the first."""
        tail = self.looks[-last:]
        return sum(look.novelty for look in tail) / len(tail) if tail else 1.0

    def after(self, call: str, arguments: Mapping[str, Any], text: str) -> Trail:
        """
        Return the trail with one more look.

        Args:
            call: The name of the tool.
            arguments: The arguments of the call.
            text: The output of the tool.
        """
        lines = (" ".join(line.split())[:500] for line in text.splitlines() if line.strip())
        signs = (line.encode("utf-8", "replace") for line in lines)
        found = {hashlib.blake2b(sign, digest_size=8).digest() for sign in signs}
        fresh = len(found - self.lines) / len(found) if found else 0.0
        look = Look(estimate(text), round(fresh, 4))
        files = self.files | read_files(call, arguments)
        return Trail(files, self.lines | found, (*self.looks, look))


def read_files(call: str, arguments: Mapping[str, Any]) -> frozenset[str]:
    """Return the files that a call names; a search of a folder names none."""
    if call == "read_file":
        return frozenset({str(arguments.get("path", "")).removeprefix("./")} - {""})
    command = str(arguments.get("command", ""))
    paths = map(_PATH.match, _WORD.findall(command))
    return frozenset(found[0] for found in paths if found is not None)


def stop_reason(trail: Trail, budget: ExplorationBudget) -> str:
    """
    Return why to stop exploring, "" while more looks are worth it.

    Args:
        trail: The exploration so far.
        budget: The limits of the exploration.
    """
    if trail.tokens >= budget.tokens:
        return f"{trail.tokens:,} of {budget.tokens:,} tokens for exploring are used"
    if len(trail.looks) >= budget.window and trail.novelty(budget.window) < budget.novelty:
        return f"only {trail.novelty(budget.window):.0%} of the last {budget.window} looks was new"
    return ""


# --- what next -----------------------------------------------------------------------------


@frozen
class Probe:
    """
    A file worth reading.

    ``value`` is its expected value per token, relative to the best one; ``cost`` is in tokens.
    """

    path: str
    value: float
    cost: int
    why: str


TOKENS_A_LINE: Final = 10
"""The approximate cost of a line of code, in tokens."""

LOOK: Final = 200
"""The fixed cost of a look, in tokens."""

MOST_PROBES: Final = 5
"""The maximum number of files proposed at once."""


def next_probes(survey: CodebaseSurvey, trail: Trail, question: str = "") -> tuple[Probe, ...]:
    """
    Propose the files to read next, the best first.

    The value of a file is the sum of its heat (see `Spot`), the complexity of its functions and
    the share of the question's words in its path, divided by the square root of its cost to read,
    so that large files are not hidden. Files already read have no value.

    Args:
        survey: The survey of the codebase.
        trail: The exploration so far.
        question: The question to answer; "" for the codebase as a whole.
    """
    keywords = set(terms(question)) if question else set()
    complexities: dict[str, int] = {}
    for one in survey.complexity.functions:
        complexities[one.path] = max(complexities.get(one.path, 0), one.complexity)
    heat = {spot.path: spot for spot in survey.spots}
    found = []
    for path, lines in survey.sizes.items():
        if path in trail.files:
            continue
        named = len(keywords & set(terms(path))) / len(keywords) if keywords else 0.0
        spot, complexity = heat.get(path), complexities.get(path, 0)
        value = (spot.score if spot else 0.0) + min(complexity, 40) / 40 + 3 * named
        if value <= 0:
            continue
        cost = LOOK + lines * TOKENS_A_LINE
        reasons = [f"its name has {named:.0%} of the words"] if named else []
        reasons += [f"changed by {spot.commits:,} commits"] if spot and spot.commits else []
        reasons += [f"a function of complexity {complexity}"] if complexity > 10 else []
        why = ", ".join([*reasons, f"{lines:,} lines"])
        found.append(Probe(path, value / cost**0.5, cost, why))
    best = sorted(found, key=lambda one: (-one.value, one.path))[:MOST_PROBES]
    top = best[0].value if best else 1.0
    return tuple(replace(one, value=round(one.value / top, 3)) for one in best)


def describe_exploration(
    survey: CodebaseSurvey, trail: Trail, budget: ExplorationBudget, question: str = ""
) -> str:
    """Describe the progress of the exploration and what to read next."""
    reading = f"Read {len(trail.files):,} files in {len(trail.looks):,} looks"
    spent = f"{trail.tokens:,} of {budget.tokens:,} tokens"
    done = f"{reading}; {spent}; {trail.novelty(budget.window):.0%} of the last looks was new."
    if stop := stop_reason(trail, budget):
        return f"{done}\nStop exploring: {stop}. Conclude, and record what you found."
    proposed = next_probes(survey, trail, question)
    probes = [f"- {one.path} (about {one.cost:,} tokens): {one.why}" for one in proposed]
    return "\n".join([done, *(probes or ["No promising file is left. Conclude."])])


LOOKS: Final = ("terminal", "read_file")


def trail_from(messages: Sequence[Message]) -> Trail:
    """Return the trail of the newest question: the looks after the last user message."""
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
    """Return the arguments of a call; empty unless they are an object."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


# --- in an agent ---------------------------------------------------------------------------


@dataclass(slots=True)
class ExplorationWatch:
    """The activity of a maintainer in this process, and the progress of its exploration."""

    budget: ExplorationBudget
    trail: Trail = field(default_factory=Trail)
    commands: int = 0
    question: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record_look(self, call: str, given: dict[str, Any], output: ToolOutput) -> ToolOutput:
        """Record a look, and add a note to its output when it is time to conclude."""
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
        """Return a tool wrapped so that each of its calls is recorded as a look."""
        inner = tool.async_action

        def act(given: dict[str, Any]) -> ToolOutput:
            return self.record_look(tool.name, given, tool.action(given))

        async def aact(given: dict[str, Any]) -> ToolOutput:
            assert inner is not None  # noqa: S101  # only used if the tool has one
            return self.record_look(tool.name, given, await inner(given))

        return replace(tool, action=act, async_action=aact if inner is not None else None)


def probe_tool(survey: Callable[[], CodebaseSurvey], watch: ExplorationWatch) -> Tool:
    """Return the tool next_probe."""

    def act(given: dict[str, Any]) -> ToolOutput:
        question = given.get("question") or watch.question
        return ToolOutput(describe_exploration(survey(), watch.trail, watch.budget, question))

    return describe_tool("next_probe", "foldline.agents").tool(return_errors(act))
