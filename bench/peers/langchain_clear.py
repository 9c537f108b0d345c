"""LangChain: ContextEditingMiddleware, which clears the oldest results until enough is freed."""

from __future__ import annotations

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, ModelRequest
from langchain.agents.middleware.types import ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langchain_messages import counter, dump, load, model, split
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[BaseMessage], task: Task) -> list[BaseMessage]:
    head, rest = split(messages, task)
    body, count = messages[len(head) :], counter(rest)
    excess = max(0, count(body) - rest.budget)
    middleware = ContextEditingMiddleware(
        edits=[ClearToolUsesEdit(trigger=rest.budget, clear_at_least=excess, keep=3)],
        token_counter=count,
    )
    sent: list[BaseMessage] = []

    def send(request: ModelRequest) -> ModelResponse:
        sent.extend(request.messages)
        return ModelResponse(result=[AIMessage("")])

    middleware.wrap_model_call(ModelRequest(model=model(rest.model), messages=body), send)
    return head + sent
