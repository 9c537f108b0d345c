"""Marks for the prompt cache: they move with every request, and are no part of what is said."""

from __future__ import annotations

from typing import Any, Final

MARK: Final = "cache_control"


def unmarked(wire: Any) -> Any:
    """Return a message without its marks; the same object where it has none."""
    if not isinstance(wire, dict):
        return wire
    content = wire.get("content")
    bare = _bare_blocks(content) if isinstance(content, list) else content
    if bare is content and MARK not in wire:
        return wire
    return {name: bare if name == "content" else v for name, v in wire.items() if name != MARK}


def _bare_blocks(blocks: list[Any]) -> list[Any]:
    bare = [unmarked(block) for block in blocks]
    same = all(new is old for new, old in zip(bare, blocks, strict=True))
    return blocks if same else bare


def mark_of(wire: Any) -> Any:
    """Return the last mark in a message, None where it has none."""
    if not isinstance(wire, dict):
        return None
    content = wire.get("content")
    blocks = content if isinstance(content, list) else []
    marks = (block.get(MARK) for block in reversed(blocks) if isinstance(block, dict))
    return wire.get(MARK) or next((mark for mark in marks if mark), None)


def marked(wire: Any, mark: Any) -> Any:
    """Return a message with a mark at its last block, where it can have one."""
    content = wire.get("content") if isinstance(wire, dict) else None
    if isinstance(content, str) and content:
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list) or not content or not isinstance(content[-1], dict):
        return wire
    if content[-1].get("type") in ("thinking", "redacted_thinking"):
        return wire
    return {**wire, "content": [*content[:-1], {**content[-1], MARK: mark}]}
