"""
LangChain and LangGraph: a middleware, a compressor of message lists, a chat model as summarizer.

    agent = create_agent(model, tools, middleware=[FoldlineMiddleware(path="agent.db")])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from foldline.integrations.langchain.chat_model import ChatModelSummarizer
    from foldline.integrations.langchain.compressor import Compressor
    from foldline.integrations.langchain.middleware import FoldlineMiddleware

__all__ = ["ChatModelSummarizer", "Compressor", "FoldlineMiddleware"]

_HOMES = {
    "ChatModelSummarizer": "chat_model",
    "Compressor": "compressor",
    "FoldlineMiddleware": "middleware",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: only the middleware needs the whole of LangChain."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
