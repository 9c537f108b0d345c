"""deepagents: its SummarizationMiddleware, which keeps what it removes in a file."""

from __future__ import annotations

import tempfile
import warnings

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware import ModelRequest
from langchain.agents.middleware.types import ModelResponse
from langchain_core.messages import AIMessage, BaseMessage
from langchain_messages import counter, dump, load, model, split
from task import Task

__all__ = ["compact", "dump", "load"]

warnings.simplefilter("ignore")

FILES = tempfile.TemporaryDirectory(prefix="deepagents-")
"""The file for removed messages, in the working directory of the worker."""


def compact(messages: list[BaseMessage], task: Task) -> list[BaseMessage]:
    head, rest = split(messages, task)
    body = messages[len(head) :]
    chat = model(rest.model)
    middleware = SummarizationMiddleware(
        chat,
        backend=FilesystemBackend(root_dir=FILES.name, virtual_mode=True),
        trigger=("tokens", rest.budget),
        keep=("tokens", rest.kept),
        token_counter=counter(rest),
        trim_tokens_to_summarize=None,
        truncate_args_settings={
            "trigger": ("tokens", rest.budget),
            "keep": ("tokens", rest.kept),
        },
    )
    sent: list[BaseMessage] = []

    def send(request: ModelRequest) -> ModelResponse:
        sent.extend(request.messages)
        return ModelResponse(result=[AIMessage("")])

    request = ModelRequest(model=chat, messages=body, state={"messages": body})
    middleware.wrap_model_call(request, send)
    return head + sent
