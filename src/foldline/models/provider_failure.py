"""
A provider's failure as one small value, read from any exception, response or JSON.

Every SDK has its own exceptions and every framework wraps them; only attributes that they share
are read, so that none of them is imported: ``status_code``, ``body``, ``response``, ``code``,
``finish_reason``, ``usage`` and similar. Everything is bounded: the input is hostile.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from foldline.frozen import frozen, replace
from foldline.values.messages import Usage
from foldline.values.plain_json import plain

LONGEST: Final = 8_000
"""Maximum length of one text, in characters."""

DEEPEST: Final = 5
"""Maximum depth to which nested errors and causes are followed."""

WIDEST: Final = 16
"""Maximum number of members read from a list or an exception group."""

_INNER: Final = ("error", "Error", "errors", "detail", "metadata", "raw", "response", "body")
_TEXTS: Final = ("message", "Message", "msg", "detail", "errorMessage", "error", "raw")
_LIMITS: Final = ("n_ctx", "max_model_len")
_CODES: Final = ("code", "type", "status", "error_code", "error_type", "__type", "Code", "reason")
_STOPS: Final = ("stop_reason", "finish_reason", "finishReason", "stopReason", "stop", "reason")
_COUNTS: Final = (
    ("input_tokens", "prompt_tokens", "promptTokenCount", "prompt_token_count"),
    ("output_tokens", "completion_tokens", "candidatesTokenCount", "candidates_token_count"),
    ("cache_read_input_tokens",),
    ("cache_creation_input_tokens",),
)


@frozen
class Failure:
    """
    The relevant fields of an error or a response.

    Args:
        type: The class names of the exception and of its causes.
        status: The HTTP status, None if there was none.
        code: The provider's error codes and types, in one line.
        text: The provider's message, never a model's.
        stop: The provider's stop reason.
        usage: The reported usage, in tokens.
        window: The model's window in tokens, None if it is unknown.
        limit: The limit in tokens that is reported as a separate field, None if there is none.
    """

    type: str = ""
    status: int | None = None
    code: str = ""
    text: str = ""
    stop: str = ""
    usage: Usage | None = None
    window: int | None = None
    limit: int | None = None


def failure_of(outcome: Any, window: int | None = None) -> Failure:
    """
    Read an exception or a response.

    Args:
        outcome: An exception of any SDK, HTTP client or framework, a response of one, its JSON, or
            a text.
        window: The model's window in tokens, to detect a usage beyond it.

    Returns:
        The fields that could be read; nothing is raised.
    """
    try:
        return replace(_read(plain(outcome)), window=window)
    except Exception:  # noqa: BLE001  # a foreign object may raise anything
        return Failure(type=_classes(outcome), window=window)


def _read(outcome: Any) -> Failure:
    if isinstance(outcome, BaseException):
        return _of_exception(outcome)
    if isinstance(outcome, (str, bytes)):
        return _of_body(outcome)
    error = _get(outcome, "error")
    if not error:
        return Failure(stop=_stop(outcome), usage=_usage(outcome))
    if not isinstance(error, (Mapping, str, list)):  # an object: read its body
        names = (*_TEXTS, *_CODES)
        error = {name: found for name in names if (found := _get(error, name))}
    return _of_body({"error": error})


# --- exceptions ----------------------------------------------------------------------------


def _of_exception(error: BaseException) -> Failure:
    read = [_one(cause) for cause in _causes(error)]
    return Failure(
        type=" ".join(one.type for one in read),
        status=next((one.status for one in read if one.status is not None), None),
        code=" ".join(one.code for one in read if one.code),
        text="\n".join(dict.fromkeys(one.text for one in read if one.text)),
        limit=next((one.limit for one in read if one.limit is not None), None),
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, its causes, and the members of a group."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < DEEPEST * 2:
        now = waiting.pop(0)
        if id(now) in seen:
            continue
        seen.add(id(now))
        yield now
        if isinstance(now, BaseExceptionGroup):
            waiting += now.exceptions[:WIDEST]
        if now.__cause__ is not None:
            waiting.append(now.__cause__)


def _one(error: BaseException) -> Failure:
    response = _get(error, "response")
    body = _first(error, "body", "error_body")
    if not body:
        body = response if isinstance(response, Mapping) else _get(response, "text")
    found = _of_body(body)
    status = _whole(_first(error, "status_code", "status", "http_status", "code"))
    if status is None:
        status = _whole(_first(response, "status_code", "status"))
    code = _get(error, "code")
    return Failure(
        type=_classes(error),
        status=status if status is not None and 100 <= status < 600 else found.status,
        code=f"{code} {found.code}".strip() if isinstance(code, str) else found.code,
        text=found.text or _text(error),
        limit=_whole(_get(error, "limit")) or found.limit,
    )


def _classes(value: Any) -> str:
    return " ".join(kind.__name__ for kind in type(value).__mro__[:DEEPEST])


def _text(error: BaseException) -> str:
    try:
        return str.__str__(str(error))[:LONGEST]
    except Exception:  # noqa: BLE001  # a foreign __str__
        return ""


# --- bodies --------------------------------------------------------------------------------


def _of_body(body: Any) -> Failure:
    """Read the JSON of an error: message, codes and status, at any depth of gateway wrapping."""
    texts, codes = list[str](), list[str]()
    statuses, limits = list[int](), list[int]()
    if isinstance(body, (str, bytes)):
        parsed = _parse(body)
        body = parsed if isinstance(parsed, (Mapping, list)) else {"message": _string(body)}
    for fields in _objects(body, DEEPEST):
        plain_texts = (value for name in _TEXTS if isinstance(value := fields.get(name), str))
        texts += [value[:LONGEST] for value in plain_texts if not _parse(value)]
        for name in _CODES:
            value = fields.get(name)
            if isinstance(value, str):
                codes.append(value[:200])
            elif (number := _whole(value)) is not None:
                statuses.append(number)
        limits += [n for name in _LIMITS if (n := _whole(fields.get(name)))]
    status = next((status for status in statuses if 400 <= status < 600), None)
    text = "\n".join(dict.fromkeys(texts))[:LONGEST]
    return Failure(status=status, code=" ".join(codes), text=text, limit=max(limits, default=None))


def _objects(value: Any, depth: int) -> Iterator[Mapping[Any, Any]]:
    """Yield an object and its members that may hold an error; JSON in strings is parsed too."""
    if isinstance(value, str):
        value = _parse(value)
    if isinstance(value, Mapping):
        yield value
        inner = [value[name] for name in _INNER if name in value]
    else:
        inner = value[:WIDEST] if isinstance(value, list) else []
    if depth:
        for item in inner:
            yield from _objects(item, depth - 1)


def _parse(text: str | bytes) -> Any:
    """Return the JSON object or list in a text, else None."""
    if len(text) > LONGEST or _string(text).lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# --- answers -------------------------------------------------------------------------------


def _stop(response: Any) -> str:
    """Return the provider's stop reason."""
    choice = _item(_get(response, "choices")) or _item(_get(response, "candidates"))
    around = _get(response, "response_metadata") or _get(response, "incomplete_details")
    found = (_first(holder, *_STOPS) for holder in (response, choice, around))
    return next((word[:200] for word in found if isinstance(word, str)), "")


def _usage(response: Any) -> Usage | None:
    """
    Return the usage that an answer reports, in tokens.

    Some providers include cached tokens in the input and some do not: the details of OpenAI and
    Gemini are part of the total, those of Anthropic are added to it.
    """
    found = _first(response, "usage", "usage_metadata", "usageMetadata")
    if isinstance(found, Usage):
        return found
    given, written, read, wrote = (_count(found, names) for names in _COUNTS)
    if given is None and written is None:
        return None
    return Usage(given or 0, written or 0, read or 0, wrote or 0)


# --- names ---------------------------------------------------------------------------------


def _get(holder: Any, name: str) -> Any:
    """Return a member of an object or a mapping, None if it is missing or raises."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    try:
        return plain(getattr(holder, name, None))
    except Exception:  # noqa: BLE001  # a foreign property
        return None


def _first(holder: Any, *names: str) -> Any:
    return next((found for name in names if (found := _get(holder, name)) is not None), None)


def _item(holder: Any) -> Any:
    if isinstance(holder, Sequence) and not isinstance(holder, (str, bytes)) and holder:
        return holder[0]
    return None


def _count(holder: Any, names: Sequence[str]) -> int | None:
    return next((n for name in names if (n := _whole(_get(holder, name))) is not None), None)


def _whole(value: Any) -> int | None:
    """Return a non-negative integer, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _string(value: str | bytes) -> str:
    return value if isinstance(value, str) else value[:LONGEST].decode("utf-8", "replace")
