"""A capability of Pydantic AI agents: history keeps everything, the model sees what fits."""

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
"""What a conversation is called that has no name."""


class FoldlineHistory(AbstractCapability[Any]):
    """
    Keeps a Pydantic AI agent inside its context window.

    The message history of the agent keeps every message; what the model is sent is decided before
    every request. As long as everything fits, that is the history itself. There is one session
    for every conversation, named by its ``conversation_id``. After a rejection as too long, the
    request is made once more, strictly smaller.

        agent = Agent(model, capabilities=[FoldlineHistory(path="agent.db")])
        result = await agent.run(prompt, message_history=earlier.all_messages())

    Args:
        window: The model's window in tokens; default what its profile says.
        path: The archive, a SQLite file; None keeps everything in memory.
        policy: A policy or its name.
        summarizer: "same" for the very model of each request, a model of Pydantic AI, or what
            `Session.open` takes.
        config: Everything else that can be set.
        output: Tokens reserved for the answer.
        conversations: How many conversations are kept open.
        recall: Whether the agent gets a tool that reads again what was removed.
        **options: Further ones of `Session.open`.

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
            conversation_id: As the messages of an agent have it.
        """
        with self.followers.following(_name(conversation_id)) as follower:
            return follower.session

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Offer the tool ``recall``, which works on the conversation in which it is called."""
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
        """Stand next to the model: see what others made of a request, and overflows first."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """Return what keeps one run, and what was rejected in it, apart from all others."""
        return _Run(self, _name(ctx.conversation_id))

    def options(self, model: Model) -> dict[str, Any]:
        """Return how a conversation is followed that a model answers."""
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

    ``_rejected`` is what the provider said to the attempt before, ``_retried`` whether there was a
    further attempt for it.
    """

    def __init__(self, history: FoldlineHistory, name: str) -> None:
        self._history = history
        self._tools = history.get_toolset()
        self._name = name
        self._wires = Wires()
        self._rejected: Exception | None = None
        self._retried = False

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """Offer what the capability of the agent offers."""
        return self._tools

    async def prepare_model_request(
        self,
        ctx: RunContext[Any],  # noqa: ARG002  # what the framework calls it with
        request_context: ModelRequestContext,
    ) -> ModelRequestContext:
        """Send the model what fits; after a rejection, strictly less."""
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
        """Ask for one more attempt after a rejection as too long; pass on any other failure."""
        if self._retried or not _is_overflow(error):
            raise error
        self._rejected, self._retried = error, True
        raise RetryModelRequest


class ModelAnswers:
    """
    Answers Asks with a model of Pydantic AI, in programs that await.

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
        """What the model reads at most, by its profile."""
        return ModelLimits(self._model.context_window or 0, name=self._model.model_name)

    async def __call__(self, ask: Ask) -> Reply:
        """Answer; whoever asks turns what the model raises into a Reply with an error."""
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
    Pydantic AI messages as JSON values, and back.

    A message behind which another one stands is serialized once: only the last one of a run still
    changes while the run goes on.
    """

    def __init__(self) -> None:
        self._settled: dict[int, tuple[ModelMessage, Any]] = {}

    def of(self, messages: Sequence[ModelMessage]) -> list[Any]:
        """Return messages as they are serialized."""
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
        wires: The history as it was serialized.
        messages: The history; what the view took from it comes back as it is.
    """
    there = {id(wire): message for wire, message in zip(wires, messages, strict=True)}
    made = [wire for wire in view if id(wire) not in there]
    # Bytes are base64 in JSON only; as Python values they would be taken for the bytes.
    read = iter(ModelMessagesTypeAdapter.validate_json(json.dumps(made)))
    return [there[id(wire)] if id(wire) in there else next(read) for wire in view]


def _name(conversation_id: str | None) -> str:
    return archive_name(conversation_id or ONE)


def _schema(tool: ToolDefinition) -> Mapping[str, Any]:
    """Return a tool as the provider is sent it, or nearly so."""
    return {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": tool.parameters_json_schema,
    }


def _is_overflow(error: Exception) -> bool:
    return isinstance(error, ModelContextWindowExceededError) or is_overflow(error)
