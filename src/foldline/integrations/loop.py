"""
A plain loop over a provider's SDK: view, call, retry if it was too long, append the answer.

    session.append({"role": "user", "content": "Fix the build."})
    answer = send(session, lambda messages: client.chat.completions.create(
        model=MODEL, messages=messages, tools=TOOLS))

The answer may come from ``chat.completions.create`` or ``responses.create`` of OpenAI, from
``messages.create`` of Anthropic, or be the JSON of one of them; no SDK is imported here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from foldline.core.asks import Ask, Reply, Stop
from foldline.errors import InputError
from foldline.formats.registry import dialect
from foldline.formats.sdk_objects import to_json
from foldline.frozen import frozen
from foldline.integrations.model_calls import asend_with_retry, send_with_retry
from foldline.models.completion import read_stop
from foldline.repair.repair import is_empty
from foldline.session import Session
from foldline.values.messages import Usage
from foldline.values.usage import read_usage

Answer = TypeVar("Answer")


def send(session: Session, call: Callable[[list[Any]], Answer]) -> Answer:
    """
    Send a session's view, and append the answer with its usage.

    An empty answer is returned but not appended, because no provider accepts it back. Exceptions
    of the call propagate; the session is unchanged, and the call may be repeated.

    Args:
        session: The session, which already holds the newest message.
        call: Sends messages and returns the provider's answer.

    Returns:
        The answer as the call returned it.

    Raises:
        ContextOverflow: The provider rejects even the smallest view as too long.
        InputError: The answer is not of a known provider.
    """
    view = session.view()
    answer = send_with_retry(view, session.overflowed, lambda sent: call(list(sent)))
    reply = read_answer(answer)
    if reply.messages:
        session.extend(reply.messages, usage=reply.usage)
    return answer


async def asend(session: Session, call: Callable[[list[Any]], Awaitable[Answer]]) -> Answer:
    """Send a session's view, in async programs; see `send`."""
    view = await session.aview()
    answer = await asend_with_retry(view, session.aoverflowed, lambda sent: call(list(sent)))
    reply = read_answer(answer)
    if reply.messages:
        await session.aextend(reply.messages, usage=reply.usage)
    return answer


def as_summarizer(call: Callable[[list[Any]], Any]) -> Callable[[Ask], Reply]:
    """
    Let the model of a loop write the summaries of its session.

        session = Session.open("agent.db", "session-1", summarizer=as_summarizer(call))

    Args:
        call: The ``call`` of `send`. It receives one user message without tool results; if it
            sends tools too, a tool call in the answer is not a summary and is discarded.
    """

    def answer(ask: Ask) -> Reply:
        return _reply(call(_messages(ask)))

    return answer


def as_async_summarizer(
    call: Callable[[list[Any]], Awaitable[Any]],
) -> Callable[[Ask], Awaitable[Reply]]:
    """Let the model of an async loop write the summaries; see `as_summarizer`."""

    async def answer(ask: Ask) -> Reply:
        return _reply(await call(_messages(ask)))

    return answer


def _messages(ask: Ask) -> list[Any]:
    """Write an Ask as one message that every provider accepts."""
    return [{"role": "user", "content": f"{ask.system}\n\n{ask.prompt}".strip()}]


def _reply(answer: Any) -> Reply:
    reply = read_answer(answer)
    messages = dialect(reply.dialect).decode(reply.messages).messages
    stop: Stop = "tools" if any(message.calls for message in messages) else "end"
    if _was_cut_off(_plain(answer)):
        stop = "length"
    return Reply("\n".join(m.text for m in messages if m.text), stop=stop, usage=reply.usage)


def _was_cut_off(value: Mapping[str, Any]) -> bool:
    """Return True if an answer reached its cap."""
    reasons = (_first(value).get("finish_reason"), value.get("stop_reason"), value.get("status"))
    return "length" in map(read_stop, reasons)


def _first(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a chat completion, {} if there is none."""
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, Mapping) else {}


@frozen
class ProviderAnswer:
    """
    The messages that an answer adds to a conversation.

    ``messages`` are in the wire format ``dialect``, and empty for an empty answer.
    """

    messages: list[Any]
    usage: Usage | None = None
    dialect: str = ""


def read_answer(answer: Any) -> ProviderAnswer:
    """
    Read the answer of a provider.

    Args:
        answer: An object of an SDK, or its JSON value.

    Raises:
        InputError: It is not of a known provider.
    """
    value = _plain(answer)
    if isinstance(value.get("choices"), list):
        message = _first(value).get("message")
        wires = [{"content": None, **message}] if isinstance(message, Mapping) else []
        name = "openai-chat"
    elif isinstance(value.get("output"), list):
        name, wires = "openai-responses", value["output"]
    elif isinstance(value.get("content"), list) and value.get("role") == "assistant":
        name, wires = "anthropic", [{"role": "assistant", "content": value["content"]}]
    else:
        raise InputError(
            f"an answer of the type {type(answer).__name__} cannot be read",
            hint="Return that of chat.completions.create, responses.create or messages.create.",
        )
    if all(map(is_empty, dialect(name).decode(wires).messages)):
        wires = []
    return ProviderAnswer(wires, read_usage(value.get("usage")), name)


def _plain(answer: Any) -> Mapping[str, Any]:
    """Return the JSON value of an SDK object, without unset fields."""
    value = to_json(answer)
    return value if isinstance(value, Mapping) else {}
