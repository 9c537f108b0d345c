"""A scripted provider, the proxy before it, and the checks after a session through both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldline.cli.commands.wrap import RunningProxy, run_proxy
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, ReceivedRequest

TURNS = 60
DONE = "All done."


def printed(turn: int, lines: int = 150) -> str:
    """Return the tool output of a turn: about ten tokens per line."""
    return "\n".join(
        f"line {line} of turn {turn}: heron-{line * turn % 977}" for line in range(lines)
    )


@dataclass
class Script:
    """
    A model that calls a tool in every turn and then is done; one that gets no tools names a title.

    Args:
        call: Returns the call of a turn.
        turns: How many there are.
    """

    call: Callable[[int], CallTool]
    turns: int = TURNS
    turn: int = 0
    tools: list[str] = field(default_factory=list)

    def __call__(self, request: ReceivedRequest) -> Answer | str:
        tools = json.dumps(tools_of(request))
        if tools == "[]":
            return "A title"
        self.tools.append(tools)
        self.turn += 1
        if self.turn > self.turns:
            return DONE
        return Answer(f"Turn {self.turn}.", (self.call(self.turn),))


def tools_of(request: ReceivedRequest) -> list[Any]:
    """Return the tools of a request; Codex may send them as an item of its input."""
    items = [one for one in request.messages if one.get("type") == "additional_tools"]
    return [*(request.body.get("tools") or []), *(tool for one in items for tool in one["tools"])]


@contextmanager
def through(server: ScriptedServer, folder: Path, window: int) -> Iterator[RunningProxy]:
    """Run the proxy before a provider."""
    options = ["--upstream", server.url, "--db", str(folder / "archive.db")]
    with run_proxy([*options, "--window", str(window)], folder / "proxy.log") as running:
        yield running


def check_session(
    server: ScriptedServer, script: Script, proxy: RunningProxy, compactions: int
) -> None:
    """Check that a whole session came through: nothing was rejected, nothing was missing."""
    totals = proxy.totals()
    assert server.violations == ()
    assert server.errors == ()
    assert totals["failed_open"] == 0
    assert totals["compactions"] >= compactions
    assert script.turn == script.turns + 1, "a request was sent twice, or is missing"
    if compactions == 0:
        assert totals["tokens_saved"] == 0
