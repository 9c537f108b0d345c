"""A capability of Pydantic AI agents: the history keeps everything, the model gets a view."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from foldline.ask_runner import ModelLike
from foldline.core.asks import Ask, ModelLimits, Reply
from foldline.core.config import Config
from foldline.core.strategy import Policy
from foldline.errors import MissingExtra
from foldline.frozen import replace
from foldline.integrations.following import MOST, Follower, FollowerPool, archive_name
from foldline.integrations.model_calls import is_overflow, is_same_model, read_usage
from foldline.models.completion import read_stop
from foldline.session import Session
from foldline.tools.recall import RECALL, recall_tool

try:
    from pydantic_ai import ModelMessagesTypeAdapter, RetryModelRequest, RunContext
    from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
    from pydantic_ai.direct import model_request
    from pydantic_ai.exceptions import ModelContextWindowExceededError
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
    )
    from pydantic_ai.models import Model, ModelRequestContext
    from pydantic_ai.tools import Tool, ToolDefinition
    from pydantic_ai.toolsets import FunctionToolset
except ImportError as error:
    raise MissingExtra("pydantic-ai", "pydantic-ai") from error

ONE: Final = "conversation"
"""The name of a conversation without an id."""


class FoldlineHistory(AbstractCapability[Any]):
    """
    Keeps a Pydantic AI agent inside its context window.

    The message history of the agent keeps every message; the view to send is computed before
    every request. While everything fits, it is the history itself. There is one session per
    conversation, named by its ``conversation_id``. After a rejection as too long, the request is
    retried once, strictly smaller.

        agent = Agent(model, capabilities=[FoldlineHistory(path="agent.db")])
        result = await agent.run(prompt, message_history=earlier.all_messages())

    Args:
        window: The model's window in tokens; default that of its profile.
        path: The archive, a SQLite file; None keeps everything in memory.
        policy: A policy or its name.
        summarizer: "same" for the model object of each request, a model of Pydantic AI, or any
            summarizer of `Session.open`.
        config: All other settings.
        output: Tokens reserved for the answer.
        conversations: Maximum number of open conversations.
        recall: Whether the agent gets a tool that reads removed content.
        **options: Further options of `Session.open`.

    Raises:
        BudgetError: An option contradicts another.
    """

    def __init__(
        self,
        *,
        window: int | None = None,
        path: str | os.PathLike[str] | None = None,
        policy: str | Policy = "default",
        summarizer: ModelLike | Model | str | None = None,
        config: Config | None = None,
        output: int | None = None,
        conversations: int = MOST,
        recall: bool = True,
        **options: Any,
    ) -> None:
        self._window = window
        self._same = is_same_model(summarizer, config)
        who = ModelAnswers(summarizer) if isinstance(summarizer, Model) else summarizer
        self._recall = recall
        self.followers = FollowerPool(
            path,
            most=conversations,
            policy=policy,
            summarizer=None if self._same else who,
            config=config,
            output=output,
            format="pydantic-ai",
            **options,
        )

    def session(self, conversation_id: str | None = None) -> Session:
        """
        Return the session of a conversation: the log, the receipts, and ``recall``.

        Args:
            conversation_id: The id in the messages of the agent.
        """
        with self.followers.following(_name(conversation_id)) as follower:
            return follower.session

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the tool ``recall``, which operates on the calling conversation."""
        if not self._recall:
            return None
        tool = Tool.from_schema(
            self._run_recall, "recall", RECALL.description, RECALL.parameters, takes_ctx=True
        )
        return FunctionToolset([tool])

    async def _run_recall(self, ctx: RunContext[Any], **arguments: Any) -> str:
        async with self.followers.afollowing(_name(ctx.conversation_id)) as follower:
            output = await recall_tool(follower.session).arun(arguments)
        return output.text

    def get_ordering(self) -> CapabilityOrdering:
        """Place this capability next to the model: it gets requests last, and overflows first."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """Return a capability with the state of one run and its rejections."""
        return _Run(self, _name(ctx.conversation_id))

    def options(self, model: Model) -> dict[str, Any]:
        """Return the follower options of a conversation with a model."""
        own = {"summarizer": ModelAnswers(model)} if self._same else {}
        window = self._window or model.context_window
        return {"window": window, "model": model.model_name, **own}

    def close(self) -> None:
        """Close all conversations and the archive."""
        self.followers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Run(AbstractCapability[Any]):
    """
    One run of an agent.

    ``_rejected`` is the provider's error for the previous attempt, ``_retried`` whether it was
    retried.
    """

    def __init__(self, history: FoldlineHistory, name: str) -> None:
        self._history = history
        self._tools = history.get_toolset()
        self._name = name
        self._wires = Wires()
        self._rejected: Exception | None = None
        self._retried = False

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Return the toolset of the agent's capability."""
        return self._tools

    async def prepare_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002  # what the framework calls it with
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Replace the messages by a view that fits; after a rejection, by a smaller one."""
        if request_context.attempt == 1:
            self._rejected, self._retried = None, False
        options = self._history.options(request_context.model)
        async with self._history.followers.afollowing(self._name, **options) as follower:
            messages = await self._view(follower, request_context)
        if messages is request_context.messages:
            return request_context
        return replace(request_context, messages=messages)

    async def _view(self, follower: Follower, request: ModelRequestContext) -> list[ModelMessage]:
        wires = self._wires.of(request.messages)
        rejected, self._rejected = self._rejected, None
        if rejected is not None:
            view = await follower.aoverflowed(wires, rejected)
        else:
            parameters = request.model_request_parameters
            tools = (*parameters.function_tools, *parameters.output_tools)
            system = InstructionPart.join(parameters.instruction_parts or [])
            view = await follower.aview(wires, system=system, tools=map(_schema, tools))
        return request.messages if view is wires else objects(view, wires, request.messages)

    async def on_model_request_error(
        self,
        ctx: RunContext[Any],  # noqa: ARG002  # what the framework calls it with
        *,
        request_context: ModelRequestContext,  # noqa: ARG002  # the same
        error: Exception,
    ) -> ModelResponse:
        """Request one retry after a rejection as too long; re-raise any other error."""
        if self._retried or not _is_overflow(error):
            raise error
        self._rejected, self._retried = error, True
        raise RetryModelRequest


class ModelAnswers:
    """
    Answers Asks with a model of Pydantic AI, in async programs.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelAnswers) and other._model is self._model

    def __hash__(self) -> int:
        return id(self._model)

    @property
    def reader(self) -> ModelLimits:
        """The limits of the model, from its profile."""
        return ModelLimits(self._model.context_window or 0, name=self._model.model_name)

    async def __call__(self, ask: Ask) -> Reply:
        """Answer an Ask; the caller converts exceptions of the model to a Reply with an error."""
        request = ModelRequest.user_text_prompt(ask.prompt, instructions=ask.system or None)
        answer = await model_request(
            self._model, [request], model_settings={"max_tokens": ask.max_tokens}
        )
        text = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
        stop = read_stop(answer.finish_reason, "end")
        return Reply(
            text, stop=stop, model=answer.model_name or "", usage=read_usage(answer.usage)
        )


class Wires:
    """
    Serialization of Pydantic AI messages, cached.

    A message that is followed by another is serialized once: only the last one of a run can still
    change.
    """

    def __init__(self) -> None:
        self._settled: dict[int, tuple[ModelMessage, Any]] = {}

    def of(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """Return serialized messages."""
        new = [message for message in messages if id(message) not in self._settled]
        dumped = zip(new, ModelMessagesTypeAdapter.dump_python(new, mode="json"), strict=True)
        known = self._settled | {id(message): (message, wire) for message, wire in dumped}
        self._settled = {id(message): known[id(message)] for message in messages[:-1]}
        return [known[id(message)][1] for message in messages]


def objects(
    view: Sequence[Any], wires: Sequence[Any], messages: Sequence[ModelMessage]
) -> list[ModelMessage]:
    """
    Return a view as objects.

    Args:
        view: Serialized messages.
        wires: The serialized history.
        messages: The history; unchanged messages of the view are its original objects.
    """
    there = {id(wire): message for wire, message in zip(wires, messages, strict=True)}
    made = [wire for wire in view if id(wire) not in there]
    # Bytes are base64 only in JSON; a Python string would be taken for the bytes themselves.
    read = iter(ModelMessagesTypeAdapter.validate_json(json.dumps(made)))
    return [there[id(wire)] if id(wire) in there else next(read) for wire in view]


def _name(conversation_id: str | None) -> str:
    return archive_name(conversation_id or ONE)


def _schema(tool: ToolDefinition) -> Mapping[str, Any]:
    """Return a tool's schema, approximately as sent to the provider."""
    return {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }


def _is_overflow(error: Exception) -> bool:
    return isinstance(error, ModelContextWindowExceededError) or is_overflow(error)
