"""Sessions of agents that are known, but not read: better named than taken for something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from foldline.formats.source import Source

UNREAD: Final[Mapping[str, str]] = {
    "amp": "Amp thread (.json)",
    "continue": "Continue session (.json)",
    "copilot": "Copilot CLI session (.jsonl), VS Code Copilot chat (.json)",
    "cursor": "Cursor session (.jsonl)",
    "kimi": "Kimi CLI session (.jsonl)",
    "qwen-code": "Qwen Code session (.jsonl)",
    "windsurf": "Windsurf trajectory (.jsonl)",
}
"""What they are, by name."""


def unread(source: Source) -> str:
    """Return the name of the agent whose session a file is, or "" where it is none of these."""
    head = source.head[0] if source.head else source.document
    if not isinstance(head, dict):
        return ""
    return next((name for name, is_one in _SIGNS if is_one(head)), "")


def _is_amp(head: Mapping[str, Any]) -> bool:
    number = head.get("id")
    named = isinstance(number, str) and number.startswith("T-")
    return named and "messages" in head and "v" in head


def _is_copilot(head: Mapping[str, Any]) -> bool:
    data = head.get("data")
    started = head.get("type") == "session.start" and isinstance(data, dict)
    return started or {"requests", "responderUsername"} <= head.keys()


def _is_cursor(head: Mapping[str, Any]) -> bool:
    return head.keys() == {"role", "message"} and isinstance(head["message"], dict)


def _is_qwen(head: Mapping[str, Any]) -> bool:
    message = head.get("message")
    return "parentUuid" in head and isinstance(message, dict) and "parts" in message


def _is_windsurf(head: Mapping[str, Any]) -> bool:
    kind = head.get("type")
    return isinstance(kind, str) and kind in head and "status" in head


_SIGNS: Final[tuple[tuple[str, Callable[[Mapping[str, Any]], bool]], ...]] = (
    ("amp", _is_amp),
    ("continue", lambda head: {"history", "workspaceDirectory", "sessionId"} <= head.keys()),
    ("copilot", _is_copilot),
    ("cursor", _is_cursor),
    ("kimi", lambda head: {"type", "protocol_version"} <= head.keys()),
    ("qwen-code", _is_qwen),
    ("windsurf", _is_windsurf),
)
