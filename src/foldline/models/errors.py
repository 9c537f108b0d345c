"""Errors of providers, each with a hint at the next step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

from foldline.errors import ModelError
from foldline.models.endpoint import Secret, reveal_all
from foldline.models.overflow import detect
from foldline.models.provider_failure import Failure, failure_of
from foldline.redaction import redact_json

RETRY_STATUSES: Final = frozenset({408, 409, 429})
"""Statuses below 500 after which the same request may succeed."""

TRANSIENT_CODES: Final = frozenset(
    {"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error"}
    | {"rate_limit_exceeded", "overloaded", "timeout", "connection", "malformed"}
)
"""Codes of transient errors, if there is no status."""

QUOTA_CODES: Final = frozenset(
    {"insufficient_quota", "billing_error", "billing_hard_limit_reached"}
)
"""Codes of an exhausted account: a retry does not help."""

MESSAGE_CHARS: Final = 500
"""Maximum length of a provider's message in an error, in characters."""

HINTS: Final = {
    401: "Check the key.",
    403: "Check the permissions of the key.",
    404: "Check the name of the model and the base URL.",
}


TIMEOUT: Final = "deadline"
"""The code of the error for a deadline that passed."""


class TooLong(ModelError):
    """
    The request is too long for the model.

    ``limit`` is the model's limit, in tokens; None if the provider did not report it.
    """

    limit: int | None = None


def timeout_error() -> ModelError:
    """Return the error for a deadline that passed."""
    return ModelError("No answer came in time.", code=TIMEOUT, retry=True)


def provider_error(
    body: Any,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    secrets: Iterable[Secret] = (),
) -> ModelError:
    """
    Create the error for a failed response, or for an error inside a stream or an answer.

    Args:
        body: The response: bytes, or the JSON value that it holds.
        status: The HTTP status; None for an error inside a response.
        headers: Of the response, their names in lower case.
        secrets: Values to redact.
    """
    kind, code, message = _error_fields(body)
    keys = reveal_all(secrets)
    message = redact_json(message, keys)[:MESSAGE_CHARS].strip()
    code = redact_json(code or kind, keys)[:100]
    where = f"status {status}" if status is not None else "an error in the answer"
    text = f"The provider answered with {where}" + (f": {message}" if message else "")
    limit = failure_of(body).limit
    failure = Failure(status=status, code=f"{kind} {code}", text=message, limit=limit)
    if found := detect(failure):
        long = TooLong(text, status=status, code=code, hint="Send less.")
        long.limit = found.limit
        return long
    heads, hint = headers or {}, HINTS.get(status or 0, "")
    again = _may_pass(status, kind, code) and heads.get("x-should-retry", "").lower() != "false"
    return ModelError(text, status=status, code=code, retry=again, wait=wait_in(heads), hint=hint)


def wait_in(headers: Mapping[str, str]) -> float | None:
    """Return the wait that the headers request, in seconds; None if they request none."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if isfinite(seconds):
            return max(0.0, seconds)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _may_pass(status: int | None, kind: str, code: str) -> bool:
    if code in QUOTA_CODES or kind in QUOTA_CODES:
        return False
    if status is None:
        return kind in TRANSIENT_CODES or code in TRANSIENT_CODES
    return status in RETRY_STATUSES or status >= 500


def _error_fields(body: Any) -> tuple[str, str, str]:
    """Return type, code and message of an error in any provider's format."""
    error = _parse(body)
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, dict):
        error = error.get("error", error)
    if not isinstance(error, dict):
        return "", "", error if isinstance(error, str) else ""
    kind, code = error.get("type"), error.get("code")
    message = error.get("message") or error.get("detail") or ""
    text = message if isinstance(message, str) else json.dumps(message)[:MESSAGE_CHARS]
    is_code = isinstance(code, (str, int)) and not isinstance(code, bool)
    return kind if isinstance(kind, str) else "", str(code) if is_code else "", text


def _parse(body: Any) -> Any:
    if not isinstance(body, bytes):
        return body
    text = body.decode("utf-8", "replace").strip()
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    # An HTML page of a gateway carries little information: its first words are enough.
    return " ".join(text[:2_000].split())[:200]
