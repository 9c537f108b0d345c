"""Runs of LangGraph: the conversation of a run, and calls hidden from its stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from foldline.errors import MissingExtra
from foldline.formats.registry import dialect
from foldline.integrations.langchain.chat_model import NOSTREAM
from foldline.values.identity import content_hash

try:
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.runnables.config import var_child_runnable_config as _run_config
except ImportError as error:
    raise MissingExtra("langchain-core", "langchain") from error

BRANCH_MARK: Final = "#"
"""Separator between a name and the number of a branch; removed from thread names."""

LONGEST_NAME: Final = 200
"""Maximum length of a thread's name, in characters."""


def conversation_name(messages: Sequence[Any], config: Mapping[str, Any] | None = None) -> str:
    """
    Return the name of the conversation in a list of messages.

    Args:
        messages: The conversation.
        config: The config of a run; its thread names the conversation, otherwise the first message
            does.
    """
    configurable = (config or {}).get("configurable")
    thread = configurable.get("thread_id") if isinstance(configurable, Mapping) else None
    return join_name(str(thread)) if thread else join_name("", first_message_key(messages))


def run_name(info: Any, messages: Sequence[Any]) -> str:
    """
    Return the name of a running agent's conversation.

    It is the agent's thread. An agent inside another graph, or without a thread, is also named by
    its first message, which no other conversation of that graph shares.

    Args:
        info: LangGraph's information about the run, None if there is none.
        messages: The history of the agent.
    """
    thread = str(getattr(info, "thread_id", None) or "")
    # The last one is the node that calls the model, the others are the graphs around it.
    graphs = str(getattr(info, "checkpoint_ns", None) or "").split("|")[:-1]
    path = [thread, *(graph.partition(":")[0] for graph in graphs)]
    if graphs or not thread:
        path.append(first_message_key(messages))
    return join_name(*path)


def first_message_key(messages: Sequence[Any]) -> str:
    """Return a key of the first message: its id, else a hash of its content."""
    if not messages:
        return ""
    number = getattr(messages[0], "id", None)
    if isinstance(number, str) and number:
        return number
    return content_hash(dialect("langchain").decode(messages[:1]).messages[0])


def join_name(*path: str) -> str:
    """Write the parts of a name as one."""
    return "/".join(part[:LONGEST_NAME].replace(BRANCH_MARK, "%23") for part in path)


@contextmanager
def hide_from_stream(metadata: Mapping[str, Any] | None = None) -> Iterator[None]:
    """
    Mark every model call in this context, at any depth, as hidden from the user.

    A summarizer is any function, and may call a chat model in any way; the mark is set on the
    callbacks that LangChain passes down to it.

    Args:
        metadata: Further metadata of these calls.
    """
    config = _run_config.get()
    callbacks = (config or {}).get("callbacks")
    if config is None or not isinstance(callbacks, BaseCallbackManager):
        yield
        return
    marked = callbacks.copy()
    marked.add_tags([NOSTREAM])
    marked.add_metadata(dict(metadata or {}))
    token = _run_config.set({**config, "callbacks": marked})
    try:
        yield
    finally:
        _run_config.reset(token)
