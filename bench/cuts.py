"""
Cut the recorded sessions in ``../shared``, and measure what a compacted prefix retains.

The measure is ``../shared/tools/retention.py``, which shares no code with the library.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import foldline
from foldline.evaluation.retention import RetainedUse

SHARED = Path(__file__).resolve().parents[2] / "shared"
TRANSCRIPTS = Path("data") / "transcripts"
LEAST_DEEP = 3
LEAST_BUDGET = 200

Wire = list[dict[str, Any]]
Steps = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """
    The history before one cut.

    ``wire`` has the messages to compact and ``prefix`` the same as text; ``tokens`` is its size.
    ``need`` and ``deep`` are the identifiers that the assistant used after the cut.
    """

    session: str
    steps: Steps
    wire: Wire
    tokens: int
    prefix: str
    need: frozenset[str]
    deep: frozenset[str]

    @property
    def source(self) -> str:
        """The folder of the session."""
        return self.session.split("/")[0]

    def budget(self, share: float) -> int:
        """Return a share of the history as a budget in tokens."""
        return max(LEAST_BUDGET, int(self.tokens * share))


@cache
def tool(shared: Path, name: str) -> ModuleType:
    """
    Load a tool of ``../shared`` by its path: the bench has a script of the same name.

    Raises:
        FileNotFoundError: It does not exist.
    """
    spec = importlib.util.spec_from_file_location(name, shared / "tools" / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(shared / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    hidden = sys.modules.get("corpus")
    if name != "corpus":
        sys.modules["corpus"] = tool(shared, "corpus")
    try:
        spec.loader.exec_module(module)
    finally:
        if hidden is not None:
            sys.modules["corpus"] = hidden
    return module


def there(shared: Path) -> bool:
    """Return True if the transcripts and the measure exist."""
    return (shared / TRANSCRIPTS).is_dir() and (shared / "tools" / "retention.py").is_file()


def sessions(shared: Path) -> list[tuple[str, Steps]]:
    """Read every recorded session that is long enough, in a fixed order."""
    return list(tool(shared, "corpus").sessions(shared / TRANSCRIPTS))


def cases(shared: Path, name: str, steps: Steps, every: int = 1) -> Iterator[Case]:
    """Yield every Nth cut of a session."""
    measure = tool(shared, "retention")
    for number, (_, cut) in enumerate(measure.cuts(steps)):
        if number % every:
            continue
        need, deep = measure.need(steps, cut)
        if len(deep) < LEAST_DEEP:
            continue
        body = [step for step in steps[:cut] if step["role"] != "system"]
        wire = measure.openai(body)
        prefix = "\n".join(map(measure.steptext, body))
        sets = frozenset(need), frozenset(deep)
        yield Case(name, body, wire, foldline.count(wire), prefix, *sets)


def score(shared: Path, case: Case, text: str) -> RetainedUse:
    """Measure how much of what was needed a text retains."""
    measure = tool(shared, "retention")
    found = measure.items(text)
    lines = measure.line_hits(text, case.prefix, set(case.need))
    return RetainedUse(
        len(case.need & found) / len(case.need),
        len(case.deep & found) / len(case.deep),
        len(lines) / len(case.need),
        len(lines & case.deep) / len(case.deep),
    )


def flat(shared: Path, messages: Wire) -> str:
    """Return all text that a model reads in messages."""
    text: str = tool(shared, "retention").flat([_plain(message) for message in messages])
    return text


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the call fields that the measure reads, even if dropped by a peer."""
    calls = []
    for call in message.get("tool_calls") or []:
        function = call.get("function") or {}
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        calls.append({"function": {"name": str(name), "arguments": str(arguments)}})
    return {"role": message.get("role"), "content": message.get("content"), "tool_calls": calls}
