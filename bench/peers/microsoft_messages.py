"""Messages and chat client of Microsoft's agent-framework."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from agent_framework import ChatResponse, Content, Message, apply_compaction
from task import Standin, Task, chat_call, text_of


class Tokenizer:
    """
    Counts tokens, the same as for every library.

    The framework passes messages as JSON; the names of its fields are not counted, since no
    model reads them.
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    def count_tokens(self, text: str) -> int:
        contents = json.loads(text)["contents"]
        return self.task.tokens(sum(map(_read, contents)))


def _read(content: dict[str, Any]) -> int:
    """Return the number of characters of a content that a model reads."""
    fields = (content.get(name) for name in ("text", "name", "arguments", "result"))
    return sum(len(str(field)) for field in fields if field)


class StandinClient:
    """The stand-in as a chat client."""

    additional_properties: dict[str, Any] = {}  # noqa: RUF012  # required by the protocol

    def __init__(self, standin: Standin) -> None:
        self.standin = standin

    async def get_response(self, messages: Sequence[Message], **_: Any) -> ChatResponse[Any]:
        prompt = "\n".join(message.text for message in messages)
        answer = Message("assistant", [self.standin.answer(prompt)])
        return ChatResponse(messages=[answer])


def run(strategy: Any, messages: list[Message], task: Task) -> list[Message]:
    """Apply a strategy as the framework does before it calls a model."""
    # A copy: strategies insert summaries into their input list.
    return asyncio.run(
        apply_compaction(list(messages), strategy=strategy, tokenizer=Tokenizer(task))
    )


def load(messages: list[dict[str, Any]]) -> list[Message]:
    out: list[Message] = []
    for message in messages:
        contents = _contents(message)
        # Results of one batch are in one message.
        if message["role"] == "tool" and out and out[-1].role == "tool":
            out[-1].contents.extend(contents)
        else:
            out.append(Message(message["role"], contents))
    return out


def _contents(message: dict[str, Any]) -> list[Content]:
    text = text_of(message.get("content"))
    if message["role"] == "tool":
        return [Content.from_function_result(str(message.get("tool_call_id", "")), result=text)]
    calls = [
        Content.from_function_call(
            str(call.get("id", "")),
            call["function"]["name"],
            arguments=call["function"]["arguments"],
        )
        for call in message.get("tool_calls") or ()
    ]
    return ([Content.from_text(text)] if text or not calls else []) + calls


def dump(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [each for message in messages for each in _dumped(message)]


def _dumped(message: Message) -> list[dict[str, Any]]:
    results = [each for each in message.contents if each.type == "function_result"]
    if results:
        return [
            {"role": "tool", "tool_call_id": each.call_id, "content": str(each.result or "")}
            for each in results
        ]
    calls = [
        chat_call(each.call_id, str(each.name), each.arguments or "{}")
        for each in message.contents
        if each.type == "function_call"
    ]
    said = {"role": str(message.role), "content": message.text or (None if calls else "")}
    return [{**said, "tool_calls": calls} if calls else said]
