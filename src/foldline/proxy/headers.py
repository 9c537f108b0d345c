"""Filtering of forwarded headers, and the headers that the proxy adds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from foldline.models.transport import Headers
from foldline.proxy.answers import READABLE
from foldline.proxy.request_rewriting import Decision
from foldline.values.messages import Usage

OWN: Final = b"x-foldline-"

HOP: Final = frozenset(
    {
        *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization"),
        *(b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade"),
    }
)
"""Hop-by-hop headers (RFC 9110, 7.6.1)."""

FRAMING: Final = frozenset({b"host", b"content-length", b"expect"})
"""Headers that are set again for the connection to the provider."""


def request_headers(
    headers: Headers, *, reads: bool, length: bool = False
) -> list[tuple[bytes, bytes]]:
    """
    Return the headers of a client to forward to the provider.

    Args:
        headers: The client's headers, with names in lower case.
        reads: Whether the proxy reads the answer too: then only codings that it can decode are
            accepted.
        length: Whether the body keeps its length.
    """
    made = FRAMING - {b"content-length"} if length else FRAMING
    removed = _connection_headers(headers) | made
    kept = [(n, v) for n, v in headers if n not in removed and not n.startswith(OWN)]
    if not reads:
        return kept
    return [(n, _readable(v) if n == b"accept-encoding" else v) for n, v in kept]


def response_headers(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers of a provider to forward to the client."""
    lowered = [(name.lower(), value) for name, value in headers]
    removed = _connection_headers(lowered)
    return [(n, v) for n, v in lowered if n not in removed and not n.startswith(OWN)]


def _connection_headers(headers: Iterable[tuple[bytes, bytes]]) -> frozenset[bytes]:
    named = [value for name, value in headers if name == b"connection"]
    return HOP.union(word.strip().lower() for value in named for word in value.split(b","))


def _readable(value: bytes) -> bytes:
    codings = [coding.strip() for coding in value.decode("latin-1").split(",")]
    kept = [c for c in codings if c.partition(";")[0].strip().lower() in READABLE - {""}]
    return ", ".join(kept).encode("latin-1") or b"identity"


def report_headers(
    decision: Decision, usage: Usage | None, *, dry_run: bool
) -> list[tuple[bytes, bytes]]:
    """Return headers that report the decision to the client, and the usage if it is known."""
    values = {
        "action": "dry-run" if dry_run else decision.outcome,
        "session": decision.session,
        "receipt": decision.receipt,
        "client-compaction": decision.compaction,
    }
    if decision.before:
        values["tokens-before"] = str(decision.before)
        values["tokens-after"] = str(decision.after)
    if usage is not None:
        values["cache-read"] = str(usage.cache_read)
        values["cache-write"] = str(usage.cache_write)
    return [(OWN + n.encode(), v.encode("ascii", "replace")) for n, v in values.items() if v]
