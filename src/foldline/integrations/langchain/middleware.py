"""The middleware of a LangChain agent: the state keeps everything, the model gets a view."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import BudgetError, MissingExtra
from foldline.integrations.following import MOST, FollowerPool
from foldline.integrations.langchain.chat_model import (
    ChatModelSummarizer,
    as_summarizer,
    name_of,
    profile_of,
)
from foldline.integrations.langchain.runs import (
    conversation_name,
    hide_from_stream,
    join_name,
    run_name,
)
from foldline.integrations.model_calls import asend_with_retry, is_same_model, send_with_retry
from foldline.session import Session
from foldline.tools.recall import COMPACT, RECALL, compact_tool, recall_tool
from foldline.tools.spec import Tool

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


class FoldlineMiddleware(AgentMiddleware[AgentState[ResponseT], ContextT, ResponseT]):
    """
    Keeps a LangChain agent inside its context window.

    The state of the graph keeps every message; the view to send is computed before every model
    call. While everything fits, it is the request itself. With a checkpointer there is one session
    per thread; without one, one per conversation, identified by its first message.

        agent = create_agent(model, tools, middleware=[FoldlineMiddleware(path="agent.db")])

    Args:
        window: The model's window in tokens; default that of its profile.
        path: The archive, a SQLite file; None keeps everything in memory.
        policy: A policy or its name, instead of that of ``config``.
        summarizer: "same" for the model object of each request, a chat model, or any summarizer
            of `Session.open`; its tokens are not streamed to the user.
        config: All other settings.
        output: Tokens reserved for the answer.
        threads: Maximum number of open conversations.
        tools: The context tools of the agent: "recall" reads removed content, "compact" requests
            a compaction.
        **options: Further options of `Session.open`.

    Raises:
        BudgetError: An option contradicts another.
    """

    transformers: ClassVar[Sequence[Any]] = (InternalCallTransformer,)  # type: ignore[misc]  # a constant here

    def __init__(
        self,
        *,
        window: int | None = None,
        path: str | os.PathLike[str] | None = None,
        policy: str | Policy | None = None,
        summarizer: Any = None,
        config: Config | None = None,
        output: int | None = None,
        threads: int = MOST,
        tools: Sequence[str] = ("recall",),
        **options: Any,
    ) -> None:
        super().__init__()
        self._window = window
        self._same = is_same_model(summarizer, config)
        self._followers = FollowerPool(
            path,
            most=threads,
            policy=policy,
            summarizer=None if self._same else as_summarizer(summarizer),
            config=config,
            output=output,
            format="langchain",
            **options,
        )
        self.tools = session_tools(self._running, tools)

    def session(self, thread: str, messages: Sequence[Any] = ()) -> Session:
        """
        Return the session of a conversation, for its receipts and to recall what was removed.

        Args:
            thread: The ``thread_id``; "" for an agent without threads.
            messages: The first messages of the conversation, if there is no thread.

        Raises:
            StoreError: It is not open: it was never run, or not recently.
        """
        return self._followers.session(
            join_name(thread) if thread else conversation_name(messages)
        )

    def _running(self, runtime: ToolRuntime) -> Session:
        name = run_name(runtime.execution_info, runtime.state["messages"])
        return self._followers.session(name)

    def close(self) -> None:
        """Close all threads; those in an archive are reopened when they run again."""
        self._followers.close()

    def wrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], ModelResponse[ResponseT]],
    ) -> ModelCallResult[ResponseT]:
        """Send the model a view that fits; retry once, strictly smaller, after an overflow."""
        with self._followers.following(_name(request), **self._options(request)) as follower:

            def overflowed(error: Exception) -> Sequence[Any]:
                with hide_from_stream(internal_call_metadata()):
                    return follower.overflowed(request.messages, error)

            with hide_from_stream(internal_call_metadata()):
                view = follower.view(request.messages, **_around(request))
            return send_with_retry(view, overflowed, lambda sent: handler(_sending(request, sent)))

    async def awrap_model_call(
        self,
        request: ModelRequest[ContextT],
        handler: Callable[[ModelRequest[ContextT]], Awaitable[ModelResponse[ResponseT]]],
    ) -> ModelCallResult[ResponseT]:
        """Send the model a view that fits, in an async agent; see `wrap_model_call`."""
        name, options = _name(request), self._options(request)
        async with self._followers.afollowing(name, **options) as follower:

            async def overflowed(error: Exception) -> Sequence[Any]:
                with hide_from_stream(internal_call_metadata()):
                    return await follower.aoverflowed(request.messages, error)

            with hide_from_stream(internal_call_metadata()):
                view = await follower.aview(request.messages, **_around(request))
            return await asend_with_retry(
                view, overflowed, lambda sent: handler(_sending(request, sent))
            )

    def _options(self, request: ModelRequest[Any]) -> dict[str, Any]:
        window = self._window or profile_of(request.model).get("max_input_tokens")
        own = {"summarizer": ChatModelSummarizer(request.model)} if self._same else {}
        return {"window": window, "model": name_of(request.model) or None, **own}


def _name(request: ModelRequest[Any]) -> str:
    return run_name(getattr(request.runtime, "execution_info", None), request.messages)


def _around(request: ModelRequest[Any]) -> dict[str, Any]:
    """Return the counted parts of a request other than the messages."""
    return {
        "system": request.system_prompt or "",
        "tools": [_schema(tool) for tool in request.tools],
    }


def _schema(tool: Any) -> Any:
    """Return a tool's schema, approximately as sent to the provider."""
    if isinstance(tool, dict):
        return tool
    schema = tool.tool_call_schema
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema if isinstance(schema, dict) else schema.model_json_schema(),
    }


def _sending(request: ModelRequest[ContextT], messages: Sequence[Any]) -> ModelRequest[ContextT]:
    if messages is request.messages:
        return request
    return request.override(messages=list(messages))


# --- the tools of a session ----------------------------------------------------------------

SESSION_TOOLS: Final[Mapping[str, tuple[str, Mapping[str, Any], Callable[[Session], Tool]]]] = {
    "recall": (RECALL.description, RECALL.parameters, recall_tool),
    "compact": (COMPACT.description, COMPACT.parameters, compact_tool),
}
"""The description of each tool, its parameters, and its factory for a session."""


def session_tools(find: Callable[[ToolRuntime], Session], names: Iterable[str]) -> list[BaseTool]:
    """
    Return tools that operate on the session of the calling conversation.

    Args:
        find: Returns that session.
        names: Names from `SESSION_TOOLS`.

    Raises:
        BudgetError: A name is unknown.
    """
    return [_tool(find, name) for name in names]


def _tool(find: Callable[[ToolRuntime], Session], name: str) -> BaseTool:
    if name not in SESSION_TOOLS:
        raise BudgetError(
            f"A session has no tool {name!r}.", hint=f"Known tools: {', '.join(SESSION_TOOLS)}."
        )
    description, parameters, make = SESSION_TOOLS[name]

    def run(runtime: ToolRuntime, **arguments: Any) -> ToolMessage:
        output = make(find(runtime)).run(arguments)
        return ToolMessage(
            output.text,
            name=name,
            tool_call_id=runtime.tool_call_id or "",
            status="error" if output.status == "error" else "success",
        )

    made: BaseTool = tool(name, description=description, args_schema=dict(parameters))(run)
    return made
