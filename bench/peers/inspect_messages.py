"""inspect_ai's messages, model and compaction handler."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CompactionStrategy,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    compaction,
    modelapi,
)
from inspect_ai.tool import ToolCall
from task import Standin, Task, arguments_of, chat_call, split_system, text_of


@modelapi(name="stand-in")
class StandinAPI(ModelAPI):
    """The stand-in as a model, with the same token counts as for every library."""

    def __init__(self, standin: Standin, task: Task) -> None:
        super().__init__(model_name="stand-in")
        self.standin, self.task = standin, task

    async def count_text_tokens(self, text: str) -> int:
        return self.task.count(text)

    async def generate(self, input: list[ChatMessage], *_: Any, **__: Any) -> ModelOutput:  # noqa: A002
        prompt = "\n".join(_prompt(message) for message in input)
        return ModelOutput.from_content("stand-in", self.standin.answer(prompt))


def _prompt(message: ChatMessage) -> str:
    calls = getattr(message, "tool_calls", None) or ()
    said = f"{message.role}: {message.text}"
    return "\n".join([said, *(f"{call.function} {call.arguments}" for call in calls)])


def run(
    strategy: CompactionStrategy, messages: list[ChatMessage], task: Task, standin: Standin
) -> list[ChatMessage]:
    """Compact as an agent does before calling its model."""
    model = Model(StandinAPI(standin, task), GenerateConfig())
    prefix = messages[: first(messages)]

    async def compacted() -> list[ChatMessage]:
        handler = compaction(strategy, prefix=prefix, tools=None, model=model)
        sent, _ = await handler.compact_input(messages)
        return sent

    return asyncio.run(compacted())


def first(messages: Sequence[ChatMessage]) -> int:
    """Return the number of initial messages of a sample: the system prompt and the task."""
    for index, message in enumerate(messages):
        if message.role == "user":
            return index + 1
        if message.role != "system":
            return index
    return len(messages)


def load(messages: list[dict[str, Any]]) -> list[ChatMessage]:
    head = len(split_system(messages)[0])
    names = {
        call.get("id"): call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls") or ()
    }
    out = [_loaded(message, names) for message in messages]
    if head < len(out) and isinstance(out[head], ChatMessageUser):
        out[head].source = "input"
    for index, message in enumerate(out):
        message.id = f"m{index}"
    return out


def _loaded(message: dict[str, Any], names: dict[Any, str]) -> ChatMessage:
    text = text_of(message.get("content"))
    match message["role"]:
        case "system" | "developer":
            return ChatMessageSystem(content=text)
        case "tool":
            number = str(message.get("tool_call_id", ""))
            return ChatMessageTool(content=text, tool_call_id=number, function=names.get(number))
        case "assistant":
            calls = [
                ToolCall(
                    id=str(call.get("id", "")),
                    function=call["function"]["name"],
                    arguments=arguments_of(call),
                )
                for call in message.get("tool_calls") or ()
            ]
            return ChatMessageAssistant(content=text, tool_calls=calls or None)
        case _:
            return ChatMessageUser(content=text)


def dump(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    return [_dumped(message) for message in messages]


def _dumped(message: ChatMessage) -> dict[str, Any]:
    match message:
        case ChatMessageTool():
            number = message.tool_call_id or ""
            return {"role": "tool", "tool_call_id": number, "content": message.text}
        case ChatMessageAssistant():
            calls = [
                chat_call(call.id, call.function, call.arguments)
                for call in message.tool_calls or ()
            ]
            said = {"role": "assistant", "content": message.text or (None if calls else "")}
            return {**said, "tool_calls": calls} if calls else said
        case _:
            return {"role": message.role, "content": message.text}
