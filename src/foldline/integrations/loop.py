"""
A plain loop over a provider's SDK: view, call, once more if it was too long, append the answer.

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
from foldline.repair.repair import says_nothing
from foldline.session import Session
from foldline.values.messages import Usage
from foldline.values.usage import read_usage

Answer = TypeVar("Answer")


def send(session: Session, call: Callable[[list[Any]], Answer]) -> Answer:
    """
    Send what a session shows, and append the answer with the usage that came with it.

    An answer that says nothing is returned but not appended, because no provider takes it back.
    What the call raises is raised; the session is as before, and the same call may be made again.

    Args:
        session: It holds the newest message already.
        call: Sends messages and returns the provider's answer.

    Returns:
        The answer as the call returned it.

    Raises:
        ContextOverflow: The provider says "too long" of the smallest that can be sent.
        InputError: The answer is none of a known provider.
    """
    view = session.view()
    answer = send_with_retry(view, session.overflowed, lambda sent: call(list(sent)))
    reply = read_answer(answer)
    if reply.messages:
        session.extend(reply.messages, usage=reply.usage)
    return answer


async def asend(session: Session, call: Callable[[list[Any]], Awaitable[Answer]]) -> Answer:
    """Send what a session shows, in async programs; see `send`."""
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
        call: As `send` takes it. It is given one user message without the tools' results; where
            it sends tools along, a call for one of them is no account and is not used.
    """

    def answer(ask: Ask) -> Reply:
        return _reply(call(_messages(ask)))

    return answer


def as_async_summarizer(
    call: Callable[[list[Any]], Awaitable[Any]],
) -> Callable[[Ask], Awaitable[Reply]]:
    """Let the model of a loop that awaits write the summaries; see `as_summarizer`."""

    async def answer(ask: Ask) -> Reply:
        return _reply(await call(_messages(ask)))

    return answer


def _messages(ask: Ask) -> list[Any]:
    """Write an Ask as the one message that every provider takes."""
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
    """Return the first choice of a chat completion, {} where there is none."""
    choices = value.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    return first if isinstance(first, Mapping) else {}


@frozen
class ProviderAnswer:
    """
    What an answer adds to a conversation.

    ``messages`` are in the wire format ``dialect``; there are none when it says nothing.
    """

    messages: list[Any]
    usage: Usage | None = None
    dialect: str = ""


def read_answer(answer: Any) -> ProviderAnswer:
    """
    Read the answer of a provider.

    Args:
        answer: An object of an SDK, or the JSON value that it stands for.

    Raises:
        InputError: It is none of a known provider.
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
            hint="Return what chat.completions.create, responses.create or messages.create did.",
        )
    if all(map(says_nothing, dialect(name).decode(wires).messages)):
        wires = []
    return ProviderAnswer(wires, read_usage(value.get("usage")), name)


def _plain(answer: Any) -> Mapping[str, Any]:
    """Return an object of an SDK as the provider sent it, without what it left empty."""
    value = to_json(answer)
    return value if isinstance(value, Mapping) else {}
