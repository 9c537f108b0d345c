"""
Two days of a maintainer: it explores, the code changes, and it plans by its notes.

    python examples/maintain.py

The model is a script on this machine. With a real one, the line that makes the client is
``model("anthropic:claude-sonnet-4-5")`` and nothing else changes.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from foldline.agents.maintainer import CodebaseMaintainer
from foldline.models import model
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, ReceivedRequest, Step
from foldline.testing.scripted import CallTool as Call

PRICE = "def price(total, rebate):\n    return total - total * rebate\n"

FINDING = {
    "title": "A rebate above 1 makes the price negative",
    "content": "price() does not bound the rebate.",
    "type": "action",
    "source": "app/price.py:2",
}


def plan(request: ReceivedRequest) -> Step:
    """Plan by the notes that a search found."""
    found = re.findall(r'"note_id": "(\w+)"', request.last)
    stale = " Its place changed: look again first." if "look again" in request.last else ""
    return Answer(f"First bound the rebate, as {found[0]} says.{stale}")


STEPS = (
    Call("terminal", {"command": "find . -name '*.py' | sort"}),
    Call("read_file", {"path": "app/price.py"}),
    Call("record", FINDING),
    "One module, one defect; it is recorded.",
    Call("look_up", {"query": "rebate"}),
    plan,
)


def main() -> None:
    """Open the maintainer twice, as two processes would."""
    left = iter(STEPS)

    def script(request: ReceivedRequest) -> Step:
        step = next(left)
        return step(request) if callable(step) else step

    with tempfile.TemporaryDirectory() as name, ScriptedServer(script) as server:
        folder = Path(name)
        (folder / "shop" / "app").mkdir(parents=True)
        (folder / "shop" / "app" / "price.py").write_text(PRICE, encoding="utf-8")
        with model("openai:scripted", base_url=server.openai_url, api_key="any") as client:

            def opened() -> CodebaseMaintainer:
                return CodebaseMaintainer(
                    "shop", folder / "shop", client, home=folder / "home", window=32_000
                )

            with opened() as maintainer:
                sys.stdout.write(f"day one: {maintainer.explore()}\n")
            changed = PRICE.replace("rebate\n", "min(rebate, 1)\n")
            (folder / "shop" / "app" / "price.py").write_text(changed, encoding="utf-8")
            with opened() as maintainer:
                for line in maintainer.check().lines():
                    sys.stdout.write(f"before day two: {line}\n")
                answer = maintainer.plan_next_steps()
                sys.stdout.write(f"day two: {answer}\n")
                sys.stdout.write(f"cited: {len(answer.notes)} note\n")


if __name__ == "__main__":
    main()
