"""Keeping what happens beside the conversation off the stream of a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from foldline.errors import MissingExtra
from foldline.integrations.langchain.chat_model import NOSTREAM

try:
    from langchain_core.callbacks import BaseCallbackManager
    from langchain_core.runnables.config import var_child_runnable_config as _running
except ImportError as error:
    raise MissingExtra("langchain-core", "langchain") from error


@contextmanager
def quiet(metadata: Mapping[str, Any] | None = None) -> Iterator[None]:
    """
    Mark every model call within, of whatever depth, as one that the user does not see.

    A summarizer is any function, and it may call a chat model in any way; the mark is set on the
    callbacks that LangChain hands down to it.

    Args:
        metadata: What these calls are marked with besides.
    """
    config = _running.get()
    callbacks = (config or {}).get("callbacks")
    if config is None or not isinstance(callbacks, BaseCallbackManager):
        yield
        return
    marked = callbacks.copy()
    marked.add_tags([NOSTREAM])
    marked.add_metadata(dict(metadata or {}))
    token = _running.set({**config, "callbacks": marked})
    try:
        yield
    finally:
        _running.reset(token)
