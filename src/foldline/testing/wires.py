"""
Write neutral messages in the wire format of every dialect, without repairs.

Unlike the writers in ``foldline.formats``, which repair their output, these write exactly what
they are given: repeated ids, results out of order, empty messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from foldline.values.messages import Media, Message, Part, Text, Thinking, ToolCall, ToolResult

SIGNATURE = "c2lnbmVk"


def wire(messages: Sequence[Message], dialect: str) -> Any:
    """
    Write messages in a wire format.

    Args:
        messages: Neutral messages.
        dialect: One of `DIALECT_NAMES`.

    Returns:
        A list of wire messages, or a request body if the dialect separates the system prompt.
    """
    return WRITERS[dialect](messages)


def _number(part: ToolCall | ToolResult) -> str:
    """Return the id of a call or a result, or the name of the tool if it has none."""
    number = part.id if isinstance(part, ToolCall) else part.call_id
    return number or f"call_{part.name}"


def _texts(parts: Iterable[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Text)]


def _data_uri(media: Media) -> str:
    return f"data:{media.media_type};base64,{media.raw}"


def _value(call: ToolCall) -> Any:
    return json.loads(call.arguments)


def _split_system(messages: Sequence[Message]) -> tuple[str, list[Message]]:
    """Split off leading system messages; later ones become user messages."""
    start = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    system = "\n".join(message.text for message in messages[:start])
    rest = [Message("user", m.parts) if m.role == "system" else m for m in messages[start:]]
    return system, rest


# --- OpenAI chat ---------------------------------------------------------------------------


def _split_results(
    messages: Sequence[Message],
    write_result: Callable[[ToolResult], dict[str, Any]],
    write_message: Callable[[str, Sequence[Part]], dict[str, Any]],
) -> list[Any]:
    """Write each result as a separate message, before the rest of its message."""
    out: list[Any] = []
    for message in messages:
        out += map(write_result, message.results)
        rest = [part for part in message.parts if not isinstance(part, ToolResult)]
        if rest or not message.results:
            out.append(write_message(message.role, rest))
    return out


def _chat_result(result: ToolResult) -> dict[str, Any]:
    text = "\n".join(_texts(result.content))
    return {"role": "tool", "tool_call_id": _number(result), "content": text}


def _thoughts(parts: Sequence[Part]) -> dict[str, str]:
    thoughts = (part.text for part in parts if isinstance(part, Thinking))
    return {"reasoning_content": first} if (first := next(thoughts, "")) else {}


def _chat_message(role: str, parts: Sequence[Part]) -> dict[str, Any]:
    written = {"role": "user" if role == "tool" else role, "content": _chat_content(parts)}
    written |= _thoughts(parts)
    calls = []
    for part in parts:
        if isinstance(part, ToolCall):
            function = {"name": part.name, "arguments": part.arguments}
            calls.append({"id": _number(part), "type": "function", "function": function})
    return {**written, "tool_calls": calls} if calls else written


def _chat_content(parts: Sequence[Part]) -> Any:
    content = [part for part in parts if isinstance(part, (Text, Media))]
    if all(isinstance(part, Text) for part in content):
        return "\n".join(_texts(content))
    return [_chat_block(part) for part in content]


def _chat_block(part: Text | Media) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": _data_uri(part)}}


# --- OpenAI Responses ----------------------------------------------------------------------


def _openai_responses(messages: Sequence[Message]) -> list[Any]:
    items: list[Any] = []
    for message in messages:
        items += [_item(message.role, part) for part in message.parts]
        if not message.parts:
            items.append({"type": "message", "role": message.role, "content": ""})
    return [_with_ids(item, index) for index, item in enumerate(items)]


def _item(role: str, part: Part) -> dict[str, Any]:
    match part:
        case Thinking(text, signed):
            summary = [{"type": "summary_text", "text": text}]
            sealed = {"encrypted_content": SIGNATURE} if signed else {}
            return {"type": "reasoning", "summary": summary, **sealed}
        case ToolCall():
            call = {"name": part.name, "arguments": part.arguments}
            return {"type": "function_call", "call_id": _number(part), **call}
        case ToolResult():
            output = [_response_block("user", piece) for piece in part.content]
            payload = output if len(output) > 1 else output[0]["text"]
            return {"type": "function_call_output", "call_id": _number(part), "output": payload}
        case _:
            who = "user" if role == "tool" else role
            return {"type": "message", "role": who, "content": [_response_block(who, part)]}


def _response_block(role: str, part: Any) -> dict[str, Any]:
    if isinstance(part, Media):
        return {"type": "input_image", "image_url": _data_uri(part), "detail": "auto"}
    return {"type": "output_text" if role == "assistant" else "input_text", "text": part.text}


def _with_ids(item: dict[str, Any], index: int) -> dict[str, Any]:
    """Add an id to model output, as the server does."""
    prefix = {"reasoning": "rs", "function_call": "fc"}.get(item["type"])
    if item.get("role") == "assistant":
        prefix = "msg"
    return {"id": f"{prefix}_{index}", **item} if prefix else item


# --- Anthropic -----------------------------------------------------------------------------


def _anthropic(messages: Sequence[Message]) -> Any:
    system, rest = _split_system(messages)
    before = ["user", *(message.role for message in rest)]
    turns = zip(rest, before, strict=False)
    items = [_anthropic_message(message, begins=role != "assistant") for message, role in turns]
    return {"system": system, "messages": items} if system else items


def _anthropic_message(message: Message, *, begins: bool) -> dict[str, Any]:
    role = "assistant" if message.role == "assistant" else "user"
    # Reasoning is allowed only at the start of an assistant turn.
    parts = [part for part in message.parts if begins or not isinstance(part, Thinking)]
    if not parts or (len(parts) == 1 and isinstance(parts[0], Text) and role == "user"):
        return {"role": role, "content": message.text}
    return {"role": role, "content": [_anthropic_block(part) for part in parts]}


def _anthropic_block(part: Any) -> dict[str, Any]:
    match part:
        case Thinking(text):
            return {"type": "thinking", "thinking": text, "signature": SIGNATURE}
        case ToolCall():
            named = {"id": _number(part), "name": part.name, "input": _value(part)}
            return {"type": "tool_use", **named}
        case ToolResult():
            blocks = [_anthropic_block(piece) for piece in part.content if _says(piece)]
            content = blocks or ("failed" if part.is_error else "")
            failed = {"is_error": True} if part.is_error else {}
            number = {"type": "tool_result", "tool_use_id": _number(part)}
            return {**number, "content": content, **failed}
        case Media():
            source = {"type": "base64", "media_type": part.media_type, "data": part.raw}
            return {"type": "image", "source": source}
        case _:
            return {"type": "text", "text": part.text}


def _says(part: Part) -> bool:
    return not isinstance(part, Text) or bool(part.text.strip())


# --- Gemini --------------------------------------------------------------------------------


def _gemini(messages: Sequence[Message]) -> Any:
    system, rest = _split_system(messages)
    items: list[Any] = []
    for message in rest:
        role = "model" if message.role == "assistant" else "user"
        signed = any(isinstance(part, Thinking) and part.signed for part in message.parts)
        joins = role == "model" and bool(items) and items[-1]["role"] == "model"
        before = items.pop()["parts"] if joins else []
        # The API returns one turn of the model, with a signature on its first call.
        signed = signed and not any("functionCall" in part for part in before)
        parts = [*before, *_gemini_parts(message.parts, signed)]
        items.append({"role": role, "parts": parts})
    around = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    return {**around, "contents": items} if around else items


def _gemini_parts(parts: Sequence[Part], signed: bool) -> list[dict[str, Any]]:
    out = []
    for part in parts:
        written = _gemini_part(part)
        if signed and isinstance(part, ToolCall):
            written["thoughtSignature"] = SIGNATURE
            signed = False
        out.append(written)
    return out


def _gemini_part(part: Any) -> dict[str, Any]:
    match part:
        case Thinking(text):
            return {"text": text, "thought": True}
        case ToolCall():
            number = {"id": part.id} if part.id else {}
            return {"functionCall": {**number, "name": part.name, "args": _value(part)}}
        case ToolResult():
            number = {"id": part.call_id} if part.call_id else {}
            key = "error" if part.is_error else "output"
            response = {key: "\n".join(_texts(part.content))}
            return {"functionResponse": {**number, "name": part.name, "response": response}}
        case Media():
            return {"inlineData": {"mimeType": part.media_type, "data": part.raw}}
        case _:
            return {"text": part.text}


# --- LangChain -----------------------------------------------------------------------------


def _langchain_result(result: ToolResult) -> dict[str, Any]:
    text, status = "\n".join(_texts(result.content)), "error" if result.is_error else "success"
    named = {"tool_call_id": _number(result), "name": result.name, "status": status}
    return {"type": "tool", "content": text, **named}


def _langchain_message(role: str, parts: Sequence[Part]) -> dict[str, Any]:
    kind = {"assistant": "ai", "system": "system"}.get(role, "human")
    written: dict[str, Any] = {"type": kind, "content": _chat_content(parts)}
    if thoughts := _thoughts(parts):
        written["additional_kwargs"] = thoughts
    calls = [_langchain_call(part) for part in parts if isinstance(part, ToolCall)]
    return {**written, "tool_calls": calls} if calls else written


def _langchain_call(call: ToolCall) -> dict[str, Any]:
    return {"name": call.name, "args": _value(call), "id": _number(call), "type": "tool_call"}


# --- Pydantic AI ---------------------------------------------------------------------------


def _pydantic_ai(messages: Sequence[Message]) -> list[Any]:
    out = []
    for message in messages:
        parts = [_pydantic_part(message.role, part) for part in message.parts]
        kind = "response" if message.role == "assistant" else "request"
        out.append({"parts": parts, "kind": kind})
    return out


def _pydantic_part(role: str, part: Part) -> dict[str, Any]:
    match part:
        case Thinking(text, signed):
            sealed = {"signature": SIGNATURE} if signed else {}
            return {"content": text, **sealed, "part_kind": "thinking"}
        case ToolCall():
            named = {"tool_name": part.name, "tool_call_id": _number(part)}
            return {**named, "args": _value(part), "part_kind": "tool-call"}
        case ToolResult():
            pieces = [_pydantic_piece(piece) for piece in part.content]
            content = pieces if len(pieces) > 1 else "".join(pieces)
            named = {"tool_name": part.name, "tool_call_id": _number(part)}
            outcome = "failed" if part.is_error else "success"
            return {**named, "content": content, "outcome": outcome, "part_kind": "tool-return"}
        case Media():
            return {"content": [_pydantic_piece(part)], "part_kind": "user-prompt"}
        case _:
            kind = {"assistant": "text", "system": "system-prompt"}.get(role, "user-prompt")
            return {"content": getattr(part, "text", ""), "part_kind": kind}


def _pydantic_piece(part: Any) -> Any:
    if isinstance(part, Media):
        return {"data": part.raw, "media_type": part.media_type, "kind": "binary"}
    return part.text


WRITERS: Mapping[str, Callable[[Sequence[Message]], Any]] = {
    "openai-chat": lambda messages: _split_results(messages, _chat_result, _chat_message),
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "langchain": lambda messages: _split_results(messages, _langchain_result, _langchain_message),
    "pydantic-ai": _pydantic_ai,
}
DIALECT_NAMES = tuple(WRITERS)
