"""Responses items for tests."""

from __future__ import annotations

from pathlib import Path

from foldline.formats.openai_responses import OpenAIResponsesDialect
from foldline.values.edits import Rewrite, apply

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "transcripts"


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)


responses = OpenAIResponsesDialect()


def text_item(role: str, text: str, **more: object) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **more}


def reasoning(number: str = "rs_1", text: str = "hm") -> dict:
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "id": number, "summary": summary, "encrypted_content": "gAAA"}


def call(number: str, arguments: str = "{}", **more: object) -> dict:
    return {
        "type": "function_call",
        "call_id": number,
        "name": "read",
        "arguments": arguments,
        **more,
    }


def output(number: str, value: object = "done") -> dict:
    return {"type": "function_call_output", "call_id": number, "output": value}


def conversation() -> list[dict]:
    return [
        text_item("developer", "Be brief."),
        {"role": "user", "content": "fix it"},
        reasoning(),
        call("a", '{"path": "x.py"}', id="fc_a"),
        call("b", id="fc_b"),
        output("a", "one"),
        output("b", [{"type": "input_text", "text": "two"}]),
        reasoning("rs_2"),
        text_item("assistant", "fixed", id="msg_1", phase="final"),
        text_item("user", "thanks"),
    ]


def edited(wire: list, *edits: tuple[int, str | None]) -> list:
    """Rewrite the first part of items, given as (position, text), and write the items."""
    messages = responses.decode(wire).messages
    rewrites = [Rewrite(messages[at].id, 0, text, "clear") for at, text in edits]
    return responses.messages(apply(messages, rewrites))
