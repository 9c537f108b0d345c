"""LangChain: SummarizationMiddleware; the summarizer reads everything that it replaces."""

from __future__ import annotations

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_messages import counter, dump, load, model, split
from task import Task

__all__ = ["compact", "dump", "load"]


def compact(messages: list[BaseMessage], task: Task) -> list[BaseMessage]:
    head, rest = split(messages, task)
    middleware = SummarizationMiddleware(
        model(rest.model),
        trigger=("tokens", rest.budget),
        keep=("tokens", rest.kept),
        token_counter=counter(rest),
        trim_tokens_to_summarize=None,
    )
    body = messages[len(head) :]
    update = middleware.before_model({"messages": body}, None)
    if update is None:
        return messages
    return head + [each for each in update["messages"] if not isinstance(each, RemoveMessage)]
