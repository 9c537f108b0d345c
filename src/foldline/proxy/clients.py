"""What clients tell about themselves: their name, their session, and that they compact by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from foldline.values.messages import Message, Opaque

HINTS: Final = ("x-claude-code-session-id", "session-id", "thread-id", "x-session-id")
"""Where clients name their session."""

LONGEST_HINT: Final = 200

NAMES: Final = {"claude-cli": "claude-code", "codex-cli-rs": "codex", "codex-exec": "codex"}

ASKING: Final = (
    "your task is to create a detailed summary of the conversation",  # Claude Code
    "you are performing a context checkpoint compaction",  # Codex
    "provide a detailed prompt for continuing our conversation",  # opencode
)
"""How clients begin to ask for a summary of their own, in small letters."""

CONTINUING: Final = (
    "this session is being continued from a previous conversation",  # Claude Code
    "another language model started to solve this problem and produced a summary",  # Codex
)
"""How they begin when they go on from one."""

ITEMS: Final = {
    "compaction_trigger": "asked",
    "compaction": "server",
    "compaction_summary": "server",
}
"""Items and blocks by which a client has its provider compact, and what that makes."""

LOOKED_AT: Final = 20_000
"""So much of a message is looked at, in characters."""

EARLY: Final = 4
"""Among so many of the first messages a summary stands that a client goes on from."""


def session_hint(headers: Mapping[str, str]) -> str:
    """Return the client's own name for its session, "" where it tells none."""
    return next((headers[name][:LONGEST_HINT] for name in HINTS if headers.get(name)), "")


def client_name(headers: Mapping[str, str]) -> str:
    """Return what a client calls itself, as a short word for names and logs."""
    product = headers.get("user-agent", "").partition("/")[0].lower()
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in product[:20]).strip("-")
    return NAMES.get(word, word) or "client"


def compaction_step(message: Message) -> str:
    """
    Recognise a message by which a client compacts by itself.

    Returns:
        "asked" for a request for a summary, "continued" for a summary that it goes on from,
        "server" for one that its provider made; "" for any other message.
    """
    for part in message.parts:
        if isinstance(part, Opaque) and part.kind in ITEMS:
            return ITEMS[part.kind]
    text = message.text[:LOOKED_AT].lower() if message.role == "user" else ""
    if any(phrase in text for phrase in ASKING):
        return "asked"
    return "continued" if any(phrase in text for phrase in CONTINUING) else ""


def client_compaction(found: Sequence[str]) -> str:
    """
    Return how a client compacts by itself.

    Args:
        found: What `compaction_step` returned for each message of a request.

    Returns:
        As `compaction_step`; "" if it does not.
    """
    if found and found[-1] == "asked":
        return "asked"
    if "server" in found:
        return "server"
    return "continued" if "continued" in found[:EARLY] else ""
