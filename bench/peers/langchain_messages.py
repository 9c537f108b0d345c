"""LangChain's messages and model, for the three libraries that are built on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, ChatResult
from task import Standin, Task, arguments_of, characters, chat_call, chat_names, text_of


class StandinModel(BaseChatModel):
    """The stand-in as a chat model."""

    standin: Any = None

    @property
    def _llm_type(self) -> str:
        return "stand-in"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        said = (f"{message.type}: {text_of(message.content)}" for message in messages)
        text = self.standin.answer("\n".join(said))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


def model(standin: Standin) -> StandinModel:
    return StandinModel(standin=standin)


def counter(task: Task) -> Callable[[Sequence[BaseMessage]], int]:
    """Return a message counter, the same as for every library."""

    def count(messages: Sequence[BaseMessage] | BaseMessage) -> int:
        several = [messages] if isinstance(messages, BaseMessage) else messages
        return task.tokens(sum(map(_characters, several)))

    return count


def _characters(message: BaseMessage) -> int:
    calls = getattr(message, "tool_calls", ())
    written = sum(len(call["name"]) + len(str(call["args"])) for call in calls)
    return len(text_of(message.content)) + written


def load(messages: list[dict[str, Any]]) -> list[BaseMessage]:
    names = chat_names(messages)
    return [
        _loaded(message, names).model_copy(update={"id": f"m{index}"})
        for index, message in enumerate(messages)
    ]


def _loaded(message: dict[str, Any], names: dict[str, str]) -> BaseMessage:
    content = message.get("content")
    content = "" if content is None else content
    match message["role"]:
        case "system" | "developer":
            return SystemMessage(content)
        case "assistant":
            calls = [
                {
                    "id": call.get("id"),
                    "name": call["function"]["name"],
                    "args": arguments_of(call),
                }
                for call in message.get("tool_calls") or ()
            ]
            return AIMessage(content, tool_calls=calls)
        case "tool":
            number = str(message.get("tool_call_id", ""))
            return ToolMessage(content, tool_call_id=number, name=names.get(number))
        case _:
            return HumanMessage(content)


def dump(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return [_dumped(message) for message in messages]


def _dumped(message: BaseMessage) -> dict[str, Any]:
    content: Any = message.content
    match message:
        case SystemMessage():
            return {"role": "system", "content": content}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.tool_call_id, "content": content}
        case AIMessage():
            calls = [
                chat_call(c["id"], c["name"], _written(c["args"])) for c in message.tool_calls
            ]
            said = {"role": "assistant", "content": content or (None if calls else "")}
            return {**said, "tool_calls": calls} if calls else said
        case _:
            return {"role": "user", "content": content}


def _written(arguments: dict[str, Any]) -> Any:
    """Unwrap arguments that are not an object."""
    wrapped = arguments.get("arguments")
    return wrapped if len(arguments) == 1 and isinstance(wrapped, str) else arguments


def split(messages: list[BaseMessage], task: Task) -> tuple[list[BaseMessage], Task]:
    """Split off the system prompt, which agents store separately; return the rest and its task."""
    head = []
    for message in messages:
        if not isinstance(message, SystemMessage):
            break
        head.append(message)
    return head, task.rest(dump(head))


__all__ = ["characters", "counter", "dump", "load", "model", "split"]
