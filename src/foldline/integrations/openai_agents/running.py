"""Runs of OpenAI Agents in which every model call gets a view that fits, with overflow retry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

from foldline.core.asks import Ask, Reply, Stop
from foldline.errors import MissingExtra
from foldline.integrations.model_calls import asend_with_retry, is_overflow, read_usage
from foldline.integrations.openai_agents.session import FoldlineSession
from foldline.tools.recall import RECALL, recall_tool

try:
    from agents import (
        FunctionTool,
        Model,
        ModelProvider,
        ModelResponse,
        ModelSettings,
        ModelTracing,
        RunConfig,
    )
    from agents.items import TResponseStreamEvent
    from agents.models.multi_provider import MultiProvider
    from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
except ImportError as error:
    raise MissingExtra("openai-agents", "openai-agents") from error


def run_config(session: FoldlineSession, **settings: Any) -> RunConfig:
    """
    Return settings for runs of a session, whose model calls get a view that fits.

    Args:
        session: The session that is also passed to the runner.
        **settings: Settings of ``RunConfig``. A model object set in an agent, rather than here or
            by name, is not wrapped: wrap it in a `FoldlineModel` to retry after overflows.
    """
    provider = settings.pop("model_provider", None) or MultiProvider()
    model = settings.pop("model", None)
    if session.run_model is not None:
        session.run_model.send = answer_with
        name = model if isinstance(model, str) else session.model
        if name and not isinstance(model, Model):
            session.run_model.model = provider.get_model(name)
    return RunConfig(
        call_model_input_filter=session.filter,
        model_provider=_Provider(session, provider),
        model=FoldlineModel(session, model) if isinstance(model, Model) else model,
        **settings,
    )


async def answer_with(model: Model, ask: Ask) -> Reply:
    """Answer an Ask with a model, without tools and tracing."""
    response = await model.get_response(
        ask.system or None,
        ask.prompt,
        ModelSettings(max_tokens=ask.max_tokens),
        [],
        None,
        [],
        ModelTracing.DISABLED,
        previous_response_id=None,
        conversation_id=None,
        prompt=None,
    )
    parts = [part for item in response.output for part in getattr(item, "content", None) or ()]
    text = "".join(str(part.text) for part in parts if getattr(part, "text", None))
    refused = any(getattr(part, "refusal", None) for part in parts)
    stop: Stop = "refusal" if refused and not text else "end"
    return Reply(text, stop=stop, usage=read_usage(response.usage))


def session_tools(session: FoldlineSession) -> list[FunctionTool]:
    """
    Return the tool ``recall``.

    Args:
        session: The session whose current branch it reads.
    """

    async def run(_: Any, arguments: str) -> str:
        output = await recall_tool(session.session).arun(arguments)
        return output.text

    # Strict schemas would make the model fill in every argument.
    description, takes = RECALL.description, RECALL.parameters
    return [FunctionTool("recall", description, takes, run, strict_json_schema=False)]


class FoldlineModel(Model):
    """
    A model that retries with a strictly smaller view after a rejection as too long.

    It works in runs with `run_config`, which computes the first view. A streamed answer is retried
    only if none of it has arrived yet.

    Args:
        session: The session of the run.
        model: The model that answers.
    """

    def __init__(self, session: FoldlineSession, model: Model) -> None:
        self._session = session
        self._inner = model
        if session.run_model is not None:
            session.run_model.model, session.run_model.send = model, answer_with

    async def get_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002  # the SDK's name
        *arguments: Any,
        **options: Any,
    ) -> ModelResponse:
        """Return an answer; see ``agents.Model``."""

        def send(items: Any) -> Awaitable[ModelResponse]:
            return self._inner.get_response(system_instructions, items, *arguments, **options)

        return await asend_with_retry(input, self._session.smaller, send)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002  # the name that the SDK gives it
        *arguments: Any,
        **options: Any,
    ) -> AsyncIterator[TResponseStreamEvent]:
        """Yield an answer as it arrives; see ``agents.Model``."""
        came = False

        def stream(items: Any) -> AsyncIterator[TResponseStreamEvent]:
            return self._inner.stream_response(system_instructions, items, *arguments, **options)

        try:
            async for event in stream(input):
                came = True
                yield event
            return
        except Exception as error:
            if came or not is_overflow(error):
                raise
            smaller = await self._session.smaller(error)
        async for event in stream(smaller):
            yield event

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """Return the advice of the wrapped model."""
        return self._inner.get_retry_advice(request)

    async def close(self) -> None:
        """Close the wrapped model."""
        await self._inner.close()


class _Provider(ModelProvider):
    """Returns the models of another provider, wrapped."""

    def __init__(self, session: FoldlineSession, inner: ModelProvider) -> None:
        self._session = session
        self._inner = inner

    def get_model(self, model_name: str | None) -> Model:
        return FoldlineModel(self._session, self._inner.get_model(model_name))

    async def aclose(self) -> None:
        await self._inner.aclose()
