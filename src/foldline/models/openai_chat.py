"""OpenAI chat completions, and the many servers that imitate them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from foldline.core.asks import Stop
from foldline.models.completion import Completion
from foldline.models.failures import failure
from foldline.models.openai_chat_stream import ChatAssembler
from foldline.models.protocol import (
    Question,
    call,
    mapping,
    objects,
    openai_usage,
    text,
    unreadable,
    with_calls,
)

STOPS: Final[dict[str, Stop]] = {
    "stop": "end",
    "length": "length",
    "content_filter": "refusal",
    "tool_calls": "tools",
    "function_call": "tools",
    "model_context_window_exceeded": "overflow",
    "model_length": "overflow",
}


class OpenAIChat:
    """Chat completions."""

    dialect = "openai-chat"
    path = "/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """Return the bearer token."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, question: Question) -> dict[str, Any]:
        """
        Write a request.

        OpenAI's own models take ``max_completion_tokens``, which counts reasoning; the imitators
        know ``max_tokens``.
        """
        before = [{"role": "system", "content": question.system}] if question.system else []
        body: dict[str, Any] = {
            "model": question.model,
            "messages": [*before, *question.messages],
        }
        if question.max_tokens is not None:
            own = question.info.provider == "openai"
            body["max_completion_tokens" if own else "max_tokens"] = question.max_tokens
        if question.temperature is not None:
            body["temperature"] = question.temperature
        if question.tools:
            body["tools"] = list(question.tools)
        if question.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def read(self, body: Mapping[str, Any]) -> Completion:
        """
        Read an answer.

        Raises:
            ModelError: It holds no choice, or an error.
        """
        choices = objects(body.get("choices"))
        if not choices:
            raise failure(dict(body)) if body.get("error") else unreadable("holds no choice")
        choice = choices[0]
        if choice.get("error"):
            # OpenRouter reports what failed upstream inside the choice.
            raise failure(choice)
        message = mapping(choice.get("message"))
        refusal = text(message.get("refusal"))
        reason = text(choice.get("finish_reason"))
        done = Completion(
            messages=({"role": "assistant", **message},) if message else (),
            text=_said(message.get("content")),
            calls=tuple(_calls(message)),
            stop="refusal" if refusal else STOPS.get(reason, "unknown"),
            usage=openai_usage(body.get("usage"), "prompt_tokens", "completion_tokens"),
            model=text(body.get("model")),
            thinking=text(message.get("reasoning_content")) or text(message.get("reasoning")),
            refusal=refusal,
        )
        return with_calls(done)

    def assembler(self) -> ChatAssembler:
        """Return what puts a stream together."""
        return ChatAssembler()


def _said(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(text(part.get("text")) for part in objects(content))


def _calls(message: Mapping[str, Any]) -> list[Any]:
    found = []
    for item in objects(message.get("tool_calls")):
        asked = mapping(item.get("function")) or mapping(item.get("custom"))
        arguments = asked.get("arguments", asked.get("input"))
        found.append(call(item.get("id"), asked.get("name"), arguments))
    old = mapping(message.get("function_call"))
    if old and not found:
        found.append(call(None, old.get("name"), old.get("arguments")))
    return found
