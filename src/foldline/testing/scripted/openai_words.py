"""Errors in the words of OpenAI, which both of its wires share."""

from __future__ import annotations

from typing import Any, Final

from foldline.testing.scripted.wire import Refusal

CREATED: Final = 1_760_000_000
"""The time of every answer, in seconds since 1970: the same script, the same bytes."""

_ERRORS: Final = {
    400: ("invalid_request_error", "", "The request is invalid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("permission_error", "", "You are not allowed to use this model."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    503: ("server_error", "", "The engine is currently overloaded, please try again later."),
}


def error(refusal: Refusal) -> dict[str, Any]:
    """Write an error as OpenAI does."""
    unknown = ("server_error", "", "The server had an error while processing your request.")
    kind, code, words = _ERRORS.get(refusal.status, unknown)
    return {
        "error": {
            "message": refusal.message or words,
            "type": kind,
            "param": refusal.param,
            "code": refusal.code or code or None,
        }
    }
