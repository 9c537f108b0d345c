"""Which requests hold a conversation, and where in them it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ProxyEndpoint:
    """
    A place that takes conversations.

    ``dialect`` is the wire format, ``key`` the field of the messages, ``system`` that of the
    system prompt, ``caps`` those that may hold the most tokens of the answer. ``counts`` says
    that nothing is answered but the size.
    """

    dialect: str
    key: str
    system: str = ""
    caps: tuple[str, ...] = ()
    counts: bool = False

    def cap(self, fields: Mapping[str, Any]) -> int | None:
        """Return how many tokens are reserved for the answer, None where nobody says."""
        for name in self.caps:
            value = fields.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return None


_ENDPOINTS: Final = {
    "/chat/completions": ProxyEndpoint(
        "openai-chat", "messages", caps=("max_completion_tokens", "max_tokens")
    ),
    "/responses": ProxyEndpoint(
        "openai-responses", "input", "instructions", caps=("max_output_tokens",)
    ),
    "/messages": ProxyEndpoint("anthropic", "messages", "system", caps=("max_tokens",)),
    "/messages/count_tokens": ProxyEndpoint("anthropic", "messages", "system", counts=True),
}


def endpoint_of(method: str, path: str) -> ProxyEndpoint | None:
    """Return what is at a path, None for everything that is passed on unread."""
    if method != "POST":
        return None
    return next((found for end, found in _ENDPOINTS.items() if path.endswith(end)), None)
