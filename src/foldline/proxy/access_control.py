"""Access control: local programs may connect, web pages in a browser may not."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from foldline.frozen import frozen

TOKEN_HEADER: Final = "x-foldline-token"  # noqa: S105  # the name of a header

CROSS: Final = ("cross-site", "same-site")
"""Values of Sec-Fetch-Site for a request by a page of another origin."""


@frozen
class RequestRefusal:
    """Why a request is refused: a status, and a message for the user."""

    status: int
    reason: str
    message: str


@frozen
class AccessControl:
    """
    Decides which requests are accepted.

    Args:
        host: The address that the proxy is bound to.
        token: The token required in every request, "" for none.
    """

    host: str
    token: str = ""

    def refusal(self, headers: Mapping[str, str]) -> RequestRefusal | None:
        """Return why a request is refused, None if it is not; header names are in lower case."""
        if "websocket" in headers.get("upgrade", "").lower():
            # With any other status Codex retries seven times, for seconds.
            return RequestRefusal(426, "websocket", "WebSockets are not supported; use HTTP.")
        if not self._is_ours(f"//{headers.get('host', '')}"):
            return RequestRefusal(421, "host", "This proxy is not known under that name.")
        origin = headers.get("origin")
        foreign = origin is not None and not self._is_ours(origin)
        if foreign or headers.get("sec-fetch-site", "") in CROSS:
            return RequestRefusal(403, "origin", "Pages of other origins are not allowed.")
        if "content-length" in headers and "transfer-encoding" in headers:
            return RequestRefusal(400, "framing", "The request gives its length in two ways.")
        given = headers.get(TOKEN_HEADER, "").encode("utf-8", "replace")
        if self.token and not hmac.compare_digest(given, self.token.encode()):
            return RequestRefusal(401, "token", f"Send the proxy's token in {TOKEN_HEADER}.")
        return None

    def _is_ours(self, address: str) -> bool:
        """Return True for a host name of this machine that no other site can use."""
        try:
            name = (urlsplit(address).hostname or "").lower()
        except ValueError:
            return False
        if name == "localhost" or name == self.host.lower():
            return True
        try:
            number = ipaddress.ip_address(name)
        except ValueError:
            return False
        # Bound to all addresses, any IP address is valid; a name could belong to another site.
        return number.is_loopback or self.host in ("0.0.0.0", "::")  # noqa: S104  # compared


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
