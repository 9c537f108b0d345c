"""The responses of OpenAI chat completions and Responses, which share their errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final

from foldline.testing.scripted.steps import (
    AnswerWriter,
    CallTool,
    ProviderError,
    ScriptedAnswer,
    pieces,
    usual_error,
)
from foldline.values.messages import Usage

CREATED: Final = 1_760_000_000
"""The time of every answer, in seconds since 1970: equal scripts give equal bytes."""


class OpenAIWriter(AnswerWriter):
    """The common part of both OpenAI formats."""

    def error(self, refusal: ProviderError) -> dict[str, Any]:
        """Write an error."""
        usual = usual_error("openai", refusal.status)
        words, code = refusal.message or usual["message"], refusal.code or usual.get("code")
        error = {"message": words, "type": usual["type"], "param": refusal.param, "code": code}
        return {"error": error}


_STOPS = {"tools": "tool_calls", "length": "length", "overflow": "length"}


class OpenAIChatWriter(OpenAIWriter):
    """``POST /v1/chat/completions``."""

    dialect: ClassVar[str] = "openai-chat"
    required: ClassVar[tuple[str, ...]] = ("model", "messages")
    caps: ClassVar[tuple[str, ...]] = ("max_completion_tokens", "max_tokens")
    end: ClassVar[bytes] = b"data: [DONE]\n\n"

    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""
        message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
        if answer.blank == "missing":
            del message["content"]
        elif answer.blank:
            message["content"] = answer.silent
        message["refusal"] = None
        if answer.stop == "refusal":
            message |= {"content": None, "refusal": answer.text}
        if answer.thinking:
            message["reasoning_content"] = answer.thinking
        if answer.calls:
            message["tool_calls"] = _calls(answer)
        choice = {"index": 0, "message": message, "finish_reason": _STOPS.get(answer.stop, "stop")}
        choices = [] if answer.blank == "none" else [choice | {"logprobs": None}]
        body = {"choices": choices, "usage": _usage(answer.usage)}
        return _head(answer, "chat.completion") | body

    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as chunks; the usage only if requested."""
        head = _head(answer, "chat.completion.chunk")
        if answer.counted:
            head["usage"] = None
        for delta in _deltas(answer):
            yield head | {"choices": [_choice(delta)]}
        if answer.blank != "none":
            yield head | {"choices": [_choice({}, _STOPS.get(answer.stop, "stop"))]}
        if answer.counted:
            yield head | {"choices": [], "usage": _usage(answer.usage)}

    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:
        """Return the error for a request that is too long, with the sizes."""
        counted = f"your messages resulted in {given} tokens"
        if cap is not None and given <= limit:
            parts = f"{given} in the messages, {cap} in the completion"
            counted = f"you requested {given + cap} tokens ({parts})"
        longest = f"This model's maximum context length is {limit} tokens."
        text = f"{longest} However, {counted}. Please reduce the length of the messages."
        return ProviderError(400, text, "context_length_exceeded", "messages")


def _head(answer: ScriptedAnswer, kind: str) -> dict[str, Any]:
    named = {"id": answer.id("chatcmpl-"), "object": kind, "created": CREATED}
    return {**named, "model": answer.model, "system_fingerprint": None}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _calls(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    calls = []
    for position, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": call.json}
        number = call.id or answer.id("call_", position)
        calls.append({"id": number, "type": "function", "function": function})
    return calls


def _deltas(answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
    if answer.blank == "none":
        return
    if answer.blank:
        silent = {} if answer.blank == "missing" else {"content": answer.silent}
        yield {"role": "assistant", **silent}
        return
    yield {"role": "assistant", "content": ""}
    for piece in pieces(answer.thinking):
        yield {"reasoning_content": piece}
    for piece in pieces(answer.text):
        yield {"refusal" if answer.stop == "refusal" else "content": piece}
    for index, call in enumerate(_calls(answer)):
        function = call["function"]
        start = call | {"function": function | {"arguments": ""}}
        yield {"tool_calls": [{"index": index, **start}]}
        for piece in pieces(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _usage(usage: Usage) -> dict[str, Any]:
    given = usage.read
    return {
        "prompt_tokens": given,
        "completion_tokens": usage.output,
        "total_tokens": given + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


CALLS: Final = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
}
"""The argument field of a call, and the prefix of its events, by kind of call."""


class OpenAIResponsesWriter(OpenAIWriter):
    """``POST /v1/responses``."""

    dialect: ClassVar[str] = "openai-responses"
    required: ClassVar[tuple[str, ...]] = ("model", "input")
    caps: ClassVar[tuple[str, ...]] = ("max_output_tokens",)

    def body(self, answer: ScriptedAnswer) -> dict[str, Any]:
        """Write an answer whole."""
        capped = answer.stop in ("length", "overflow")
        return _response(answer) | {
            "status": "incomplete" if capped else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if capped else None,
            "output": _items(answer),
            "usage": _response_usage(answer.usage),
        }

    def events(self, answer: ScriptedAnswer) -> Iterator[dict[str, Any]]:
        """Write an answer as the numbered events of a stream."""
        for number, event in enumerate(_events(answer, self.body(answer))):
            yield event | {"sequence_number": number}

    def overflow(self, limit: int, given: int, cap: int | None) -> ProviderError:  # noqa: ARG002
        """Return the error for a request that is too long; this format names no sizes."""
        why = "Your input exceeds the context window of this model."
        text = f"{why} Please adjust your input and try again."
        return ProviderError(400, text, "context_length_exceeded", "input")


def _response(answer: ScriptedAnswer) -> dict[str, Any]:
    return {
        "id": answer.id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": answer.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None,
    }


def _items(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.thinking:
        summary = {"type": "summary_text", "text": answer.thinking}
        items.append({"id": answer.id("rs_"), "type": "reasoning", "summary": [summary]})
    if answer.blank != "none" and (answer.text or answer.blank):
        message = {"id": answer.id("msg_"), "type": "message", "role": "assistant"}
        status = "incomplete" if answer.stop == "length" else "completed"
        items.append(message | {"status": status, "content": _content(answer)})
    calls = enumerate(answer.calls)
    return items + [_write_call(answer, position, call) for position, call in calls]


def _write_call(answer: ScriptedAnswer, position: int, call: CallTool) -> dict[str, Any]:
    kind, key = ("custom_tool_call", "input") if call.custom else ("function_call", "arguments")
    number = answer.id("ctc_" if call.custom else "fc_", position)
    named = {"call_id": call.id or answer.id("call_", position), "name": call.name}
    named |= {"namespace": call.namespace} if call.namespace else {}
    return {"id": number, "type": kind, "status": "completed", **named, key: call.json}


def _content(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    if answer.blank == "missing":
        return []
    if answer.stop == "refusal":
        return [{"type": "refusal", "refusal": answer.text}]
    text = answer.silent if answer.blank else answer.text
    return [{"type": "output_text", "text": text, "annotations": []}]


def _events(answer: ScriptedAnswer, whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    head = _response(answer)
    yield {"type": "response.created", "response": head}
    yield {"type": "response.in_progress", "response": head}
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index}
        begun = _start_item(item)
        yield {"type": "response.output_item.added", **place, "item": begun}
        place["item_id"] = item["id"]
        if item["type"] in CALLS:
            yield from _call(item, place)
        elif item["type"] == "reasoning":
            yield from _reasoning(item, place)
        else:
            yield from _message(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{whole['status']}", "response": whole}


def _start_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item at the start of its stream, without content."""
    if item["type"] == "reasoning":
        return item | {"summary": []}
    key, _ = CALLS.get(item["type"], ("content", ""))
    empty: dict[str, Any] = {key: [] if key == "content" else ""}
    return item | {"status": "in_progress"} | empty


def _call(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key, event = CALLS[item["type"]]
    for piece in pieces(item[key]):
        yield {"type": f"{event}.delta", **place, "delta": piece}
    named = {"name": item["name"]} if key == "arguments" else {}
    yield {"type": f"{event}.done", **place, key: item[key], **named}


def _reasoning(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    event, (part,) = "response.reasoning_summary", item["summary"]
    place = place | {"summary_index": 0}
    yield {"type": f"{event}_part.added", **place, "part": part | {"text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": f"{event}_text.delta", **place, "delta": piece}
    yield {"type": f"{event}_text.done", **place, "text": part["text"]}
    yield {"type": f"{event}_part.done", **place, "part": part}


def _message(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for index, part in enumerate(item["content"]):
        where = place | {"content_index": index}
        key = "refusal" if part["type"] == "refusal" else "text"
        event = f"response.{part['type']}"
        text = part[key]
        logs: dict[str, Any] = {} if key == "refusal" else {"logprobs": []}
        yield {"type": "response.content_part.added", **where, "part": part | {key: ""}}
        for piece in pieces(text or ""):
            yield {"type": f"{event}.delta", **where, "delta": piece, **logs}
        yield {"type": f"{event}.done", **where, key: text, **logs}
        yield {"type": "response.content_part.done", **where, "part": part}


def _response_usage(usage: Usage) -> dict[str, Any]:
    given = usage.read
    cached = {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write}
    read = {"input_tokens": given, "input_tokens_details": cached}
    wrote = {"output_tokens": usage.output, "output_tokens_details": {"reasoning_tokens": 0}}
    return {**read, **wrote, "total_tokens": given + usage.output}
