"""Pydantic AI's messages and model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.compaction import SummarizingCompaction, compact_now
from task import Standin, Task, characters, chat_call, chat_names, fitting, text_of


def model(standin: Standin) -> FunctionModel:
    """Return the stand-in as a model."""

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        prompt = "\n".join(_text(part) for message in messages for part in message.parts)
        return ModelResponse(parts=[TextPart(standin.answer(prompt))])

    return FunctionModel(answer)


def run(strategy: Any, messages: list[ModelMessage], task: Task) -> list[ModelMessage]:
    """Run a compaction strategy as an application does between runs of an agent."""
    return asyncio.run(
        compact_now(strategy, messages, model=model(task.model), tokenizer=task.count)
    )


def summarizing(messages: list[ModelMessage], task: Task) -> SummarizingCompaction[Any]:
    """Return the summarizing strategy; it keeps the task and the last messages that fit."""
    # Its `keep_tokens` is a minimum, which one large message far exceeds.
    sizes = [task.tokens(sum(map(characters, dump([message])))) for message in messages]
    first = next((size for size, each in zip(sizes, messages, strict=True) if _asks(each)), 0)
    return SummarizingCompaction(
        max_messages=1,
        keep_messages=fitting(sizes, task.kept - first),
        tool_return_max_chars=None,
        tokenizer=task.count,
    )


def _asks(message: ModelMessage) -> bool:
    return any(isinstance(part, UserPromptPart) for part in message.parts)


def load(messages: list[dict[str, Any]]) -> list[ModelMessage]:
    names, out = chat_names(messages), []
    for message in messages:
        if message["role"] == "assistant":
            out.append(ModelResponse(parts=_response(message)))
            continue
        part = _request(message, names)
        # Results of one batch are parts of one request.
        last = out[-1] if out else None
        if isinstance(part, ToolReturnPart) and isinstance(last, ModelRequest) and _returns(last):
            last.parts = [*last.parts, part]
        else:
            out.append(ModelRequest(parts=[part]))
    return out


def _returns(request: ModelRequest) -> bool:
    return all(isinstance(part, ToolReturnPart) for part in request.parts)


def _response(message: dict[str, Any]) -> list[Any]:
    said = text_of(message.get("content"))
    calls = message.get("tool_calls") or ()
    text = [TextPart(said)] if said or not calls else []
    return text + [
        ToolCallPart(
            tool_name=call["function"]["name"],
            args=call["function"]["arguments"],
            tool_call_id=str(call.get("id", "")),
        )
        for call in calls
    ]


def _request(message: dict[str, Any], names: dict[str, str]) -> Any:
    content = text_of(message.get("content"))
    match message["role"]:
        case "system" | "developer":
            return SystemPromptPart(content)
        case "tool":
            number = str(message.get("tool_call_id", ""))
            name = names.get(number, "tool")
            return ToolReturnPart(tool_name=name, content=content, tool_call_id=number)
        case _:
            return UserPromptPart(content)


def dump(messages: Sequence[ModelMessage]) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            out += _assistant(message)
        else:
            out += [_dumped(part) for part in message.parts]
    return out


def _assistant(message: ModelResponse) -> list[dict[str, Any]]:
    text, calls, out = [], [], []
    for part in message.parts:
        match part:
            case ToolCallPart():
                calls.append(chat_call(part.tool_call_id, part.tool_name, part.args_as_json_str()))
            # A summary is sent as a user message; see the library's request builder.
            case CompactionPart():
                out.append({"role": "user", "content": part.content or ""})
            case _:
                text.append(_text(part))
    said = {"role": "assistant", "content": "\n".join(text) or (None if calls else "")}
    if calls:
        out.append({**said, "tool_calls": calls})
    elif text or not out:
        out.append(said)
    return out


def _dumped(part: Any) -> dict[str, Any]:
    match part:
        case SystemPromptPart():
            return {"role": "system", "content": part.content}
        case ToolReturnPart():
            content = part.model_response_str()
            return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
        case _:
            return {"role": "user", "content": _text(part)}


def _text(part: Any) -> str:
    content = getattr(part, "content", "")
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        return "\n".join(
            each if isinstance(each, str) else str(getattr(each, "content", ""))
            for each in content
        )
    return "" if content is None else str(content)
