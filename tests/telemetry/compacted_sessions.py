"""Sessions that emit events, for the tests of listeners."""

from __future__ import annotations

from typing import Any

from foldline import Reply, Session
from foldline.session.hooks import Hooks
from foldline.stores.memory import MemoryStore
from foldline.values.messages import Usage

SECRET = "sk-ant-0123456789abcdefSECRET"  # noqa: S105  # opens nothing
WORDS = "purple elephant"


def compacted_session(*listeners: Any, name: str = "s", fails: bool = False) -> Session:
    """Fill a session until it is compacted with a summarizer, and return it."""
    usage = Usage(input=900, output=50)

    def tell(_: Any) -> Reply:
        if fails:
            return Reply(error="busy", retry=False, model="small", usage=usage)
        words = "The user wants the build mended; the agent read the files and changed three."
        return Reply(words, model="small", usage=usage, usd=0.002)

    made = Session.open(
        None,
        name,
        store=MemoryStore(),
        model="claude-sonnet-4-5",
        window=4_000,
        policy="salient",
        summarizer=tell,
        hooks=Hooks(listeners=listeners),
    )
    for number in range(12):
        made.append({"role": "user", "content": f"{WORDS} {SECRET} " + f"word{number} " * 120})
        made.append({"role": "assistant", "content": f"{WORDS} " + f"word{number} " * 120})
    made.view()
    return made
