"""What is taken from LangChain, in one place; each name is passed on."""

from __future__ import annotations

from foldline.errors import MissingExtra

try:
    from langchain.agents.middleware.internal_call_transformer import (
        InternalCallTransformer as InternalCallTransformer,
    )
    from langchain.agents.middleware.internal_call_transformer import (
        internal_call_metadata as internal_call_metadata,
    )
    from langchain.agents.middleware.types import AgentMiddleware as AgentMiddleware
    from langchain.agents.middleware.types import AgentState as AgentState
    from langchain.agents.middleware.types import ContextT as ContextT
    from langchain.agents.middleware.types import ModelCallResult as ModelCallResult
    from langchain.agents.middleware.types import ModelRequest as ModelRequest
    from langchain.agents.middleware.types import ModelResponse as ModelResponse
    from langchain.agents.middleware.types import ResponseT as ResponseT
    from langchain.messages import ToolMessage as ToolMessage
    from langchain.tools import BaseTool as BaseTool
    from langchain.tools import ToolRuntime as ToolRuntime
    from langchain.tools import tool as tool
except ImportError as error:
    raise MissingExtra("langchain", "langchain") from error
