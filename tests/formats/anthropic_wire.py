"""Anthropic messages for tests."""

from __future__ import annotations

from pathlib import Path

from foldline.formats.anthropic import AnthropicDialect
from foldline.values.edits import Rewrite, apply

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


anthropic = AnthropicDialect()


def use(number: str, **arguments: object) -> dict:
    return {"type": "tool_use", "id": number, "name": "read", "input": arguments}


def answer(number: str, content: object = "done", **more: object) -> dict:
    return {"type": "tool_result", "tool_use_id": number, "content": content, **more}


def thought(text: str = "hm", signature: str = "c2ln") -> dict:
    return {"type": "thinking", "thinking": text, "signature": signature}


def conversation() -> list[dict]:
    image = {"type": "base64", "media_type": "image/png", "data": PNG}
    return [
        {"role": "user", "content": "fix it"},
        {"role": "assistant", "content": [thought(), use("a", path="x.py"), use("b")]},
        {
            "role": "user",
            "content": [
                answer(
                    "a", [{"type": "text", "text": "body"}, {"type": "image", "source": image}]
                ),
                answer("b", "no such file", is_error=True, cache_control={"type": "ephemeral"}),
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "fixed"}]},
        {"role": "user", "content": [{"type": "text", "text": "thanks"}]},
    ]


def edited(wire: object, *edits: tuple[int, int, str | None]) -> list:
    """Rewrite parts, given as (message, part, text), and write the messages."""
    messages = anthropic.decode(wire).messages
    rewrites = [Rewrite(messages[m].id, part, text, "clear") for m, part, text in edits]
    return anthropic.messages(apply(messages, rewrites))
