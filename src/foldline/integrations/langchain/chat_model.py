"""A LangChain chat model as a summarizer, which answers Asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.ask_runner import ModelLike
from foldline.core.asks import Ask, ModelLimits, Reply
from foldline.formats.registry import dialect
from foldline.frozen import replace
from foldline.models.completion import read_stop
from foldline.values.messages import Usage

CAPS: Final = ("max_tokens", "max_output_tokens", "num_predict")
"""The names of the output cap in chat models."""

NOSTREAM: Final = "nostream"
"""The tag that excludes a model's tokens from LangGraph streams."""


class ChatModelSummarizer:
    """
    Answers Asks with a chat model; its tokens never reach the stream of a graph.

    Retries inside the chat model count as one request: build it with ``max_retries=0`` if the
    number of requests must be exact.

    Args:
        model: A chat model without tools.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        fields = getattr(type(model), "model_fields", {})
        self._cap = next((name for name in CAPS if name in fields), None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChatModelSummarizer) and other._model is self._model

    def __hash__(self) -> int:
        return id(self._model)

    @property
    def reader(self) -> ModelLimits:
        """The input and output limits of the model, from its profile."""
        profile = profile_of(self._model)
        window, output = profile.get("max_input_tokens"), profile.get("max_output_tokens")
        known = ModelLimits(window or 0, name=name_of(self._model))
        return replace(known, output=output) if output else known

    def answer(self, ask: Ask) -> Reply:
        """Answer an Ask; the caller converts exceptions of the model to a Reply with an error."""
        return self._reply(self._model.invoke(_prompt(ask), _config(), **self._cap_option(ask)))

    async def aanswer(self, ask: Ask) -> Reply:
        """Answer an Ask in async programs; see `answer`."""
        answer = await self._model.ainvoke(_prompt(ask), _config(), **self._cap_option(ask))
        return self._reply(answer)

    def _cap_option(self, ask: Ask) -> dict[str, int]:
        return {} if self._cap is None else {self._cap: ask.max_tokens}

    def _reply(self, response: Any) -> Reply:
        message = dialect("langchain").decode([response]).messages[0]
        metadata = getattr(response, "response_metadata", None) or {}
        stop = read_stop(metadata.get("finish_reason") or metadata.get("stop_reason"), "end")
        usage = message.usage or Usage()
        return Reply(message.text, stop=stop, model=name_of(self._model), usage=usage)


def as_summarizer(summarizer: Any) -> ModelLike | None:
    """Wrap a chat model so that it answers Asks; return any other summarizer unchanged."""
    if callable(getattr(summarizer, "ainvoke", None)) and hasattr(summarizer, "invoke"):
        return ChatModelSummarizer(summarizer)
    answers: ModelLike | None = summarizer
    return answers


def profile_of(model: Any) -> Mapping[str, Any]:
    """Return LangChain's profile of a chat model, empty if there is none."""
    profile = getattr(model, "profile", None)
    return profile if isinstance(profile, Mapping) else {}


def name_of(model: Any) -> str:
    """Return the provider's name of a chat model, "" if it has none."""
    names = (getattr(model, field, None) for field in ("model_name", "model", "model_id"))
    return next((name for name in names if isinstance(name, str) and name), "")


def _prompt(ask: Ask) -> list[tuple[str, str]]:
    return [*([("system", ask.system)] if ask.system else []), ("human", ask.prompt)]


def _config() -> dict[str, Any]:
    return {"tags": [NOSTREAM], "metadata": {"lc_source": "summarization"}}
