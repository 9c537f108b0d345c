"""Strands' messages, model and agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from strands import Agent
from strands.models import Model
from strands.types.exceptions import ContextWindowOverflowException
from task import Standin, Task, arguments_of, characters, chat_call, split_system, text_of

PATIENCE = 3
"""Maximum consecutive reductions without effect."""


class StandinModel(Model):
    """The stand-in as a model."""

    def __init__(self, standin: Standin | None = None) -> None:
        self.standin = standin

    def update_config(self, **_: Any) -> None:
        """Accept and ignore any configuration."""

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "stand-in"}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[dict[str, Any]]:
        raise TypeError("the stand-in writes text only")
        yield {}

    async def stream(
        self, messages: list[Any], *_: Any, **__: Any
    ) -> AsyncIterator[dict[str, Any]]:
        assert self.standin is not None
        text = self.standin.answer("\n".join(map(_prompt, messages)))
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": text}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def _prompt(message: dict[str, Any]) -> str:
    blocks = []
    for block in message["content"]:
        if "toolResult" in block:
            blocks += [each.get("text", "") for each in block["toolResult"]["content"]]
        elif "toolUse" in block:
            blocks.append(f"{block['toolUse']['name']} {block['toolUse']['input']}")
        else:
            blocks.append(f"{message['role']}: {block.get('text', '')}")
    return "\n".join(blocks)


def reduce(manager: Any, agent: Agent, task: Task) -> Agent:
    """Reduce the history as an agent does when a model reports that it is too long."""
    model = agent.model
    assert isinstance(model, StandinModel)
    model.standin = task.model
    size = _size(agent, task)
    stalled = 0
    while size > task.budget and stalled < PATIENCE:
        manager.reduce_context(agent, ContextWindowOverflowException("the input is too long"))
        before, size = size, _size(agent, task)
        stalled = 0 if size < before else stalled + 1
    return agent


def _size(agent: Agent, task: Task) -> int:
    return task.tokens(sum(map(characters, dump(agent))))


def load(messages: list[dict[str, Any]]) -> Agent:
    head, body = split_system(messages)
    system = "\n\n".join(text_of(message.get("content")) for message in head) or None
    out: list[Any] = []
    for message in body:
        loaded = _loaded(message)
        # Results of one batch are in one message.
        if message["role"] == "tool" and out and _has_results(out[-1]):
            out[-1]["content"] += loaded["content"]
        else:
            out.append(loaded)
    return Agent(
        model=StandinModel(), system_prompt=system, messages=out, callback_handler=None, tools=[]
    )


def _has_results(message: dict[str, Any]) -> bool:
    return all("toolResult" in block for block in message["content"])


def _loaded(message: dict[str, Any]) -> dict[str, Any]:
    text = text_of(message.get("content"))
    if message["role"] == "tool":
        number = str(message.get("tool_call_id", ""))
        result = {"toolUseId": number, "status": "success", "content": [{"text": text}]}
        return {"role": "user", "content": [{"toolResult": result}]}
    calls = [
        {
            "toolUse": {
                "toolUseId": str(call.get("id", "")),
                "name": call["function"]["name"],
                "input": arguments_of(call),
            }
        }
        for call in message.get("tool_calls") or ()
    ]
    said = [{"text": text}] if text or not calls else []
    role = "assistant" if message["role"] == "assistant" else "user"
    return {"role": role, "content": [*said, *calls]}


def dump(agent: Agent) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    if agent.system_prompt:
        out.append({"role": "system", "content": str(agent.system_prompt)})
    for message in agent.messages:
        out += _dumped(message)
    return out


def _dumped(message: dict[str, Any]) -> list[dict[str, Any]]:
    text = "\n".join(block["text"] for block in message["content"] if "text" in block)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    if message["role"] == "assistant":
        calls = [chat_call(use["toolUseId"], use["name"], use["input"]) for use in uses]
        said = {"role": "assistant", "content": text or (None if calls else "")}
        return [{**said, "tool_calls": calls} if calls else said]
    out: list[dict[str, Any]] = [
        {
            "role": "tool",
            "tool_call_id": result["toolUseId"],
            "content": "\n".join(each.get("text", "") for each in result["content"]),
        }
        for result in results
    ]
    return [*out, {"role": "user", "content": text}] if text or not results else out
