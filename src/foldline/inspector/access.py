"""Who may see a page and who may change something: pure checks of what a request says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["allowed", "enter", "refused"]

HOSTS: Final = ("127.0.0.1", "localhost")

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""What every answer says to the browser."""


@dataclass(frozen=True, slots=True)
class Access:
    """
    The rights to the pages of one server.

    Args:
        port: On which it listens.
        token: What the first link holds; whoever followed it carries it in a cookie.
    """

    port: int
    token: str = field(default_factory=lambda: token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie; servers on several ports share their cookies."""
        return f"foldline_inspect_{self.port}"

    def link(self, path: str = "/") -> str:
        """Return the first link, which leads to a page."""
        return f"http://127.0.0.1:{self.port}{path}?token={self.token}"

    def judge(
        self,
        method: str,
        headers: Mapping[str, str],
        cookies: Mapping[str, str],
        asked: str,
        form: Mapping[str, str],
    ) -> Verdict:
        """
        Judge a request.

        Args:
            method: GET or POST.
            headers: Its headers, names in lower case.
            cookies: Its cookies.
            asked: The token in its address, "" where there is none.
            form: The fields that it posts.

        Returns:
            "enter" where it comes by the first link, and is to be given the cookie.
        """
        if not self._is_here(headers):
            return "refused"
        if method == "GET" and asked:
            return "enter" if self._is_token(asked) else "refused"
        if not self._is_token(cookies.get(self.cookie, "")):
            return "refused"
        if method == "POST" and not self._is_token(form.get("token", "")):
            return "refused"
        return "allowed"

    def _is_token(self, text: str) -> bool:
        return compare_digest(text.encode(), self.token.encode())

    def _is_here(self, headers: Mapping[str, str]) -> bool:
        """Return True if the request names this server, and comes from one of its pages."""
        hosts = {f"{host}:{self.port}" for host in HOSTS}
        if headers.get("host", "") not in hosts:
            return False
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return False
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin") or (
            headers.get("sec-fetch-mode") == "navigate" and origin is None
        )
