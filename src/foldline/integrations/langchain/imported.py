"""What is taken from LangChain, in one place."""

from __future__ import annotations

from foldline.errors import MissingExtra

try:
    from langchain.agents.middleware.internal_call_transformer import (
        InternalCallTransformer,
        internal_call_metadata,
    )
    from langchain.agents.middleware.types import (
        AgentMiddleware,
        AgentState,
        ContextT,
        ModelCallResult,
        ModelRequest,
        ModelResponse,
        ResponseT,
    )
    from langchain.messages import ToolMessage
    from langchain.tools import BaseTool, ToolRuntime, tool
except ImportError as error:
    raise MissingExtra("langchain", "langchain") from error

__all__ = [
    "AgentMiddleware",
    "AgentState",
    "BaseTool",
    "ContextT",
    "InternalCallTransformer",
    "ModelCallResult",
    "ModelRequest",
    "ModelResponse",
    "ResponseT",
    "ToolMessage",
    "ToolRuntime",
    "internal_call_metadata",
    "tool",
]
