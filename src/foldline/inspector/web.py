"""Serve the pages on a local socket with access control, by Starlette and uvicorn."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Final, Literal, TypeAlias
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foldline.errors import FoldlineError
from foldline.frozen import field, frozen
from foldline.inspector.site import (
    InspectorSite,
    PageRequest,
    PageResponse,
    entry_page,
    refusal_page,
)

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
"""Headers of every response."""


@frozen
class Access:
    """
    The rights to the pages of one server.

    Args:
        port: The port it listens on.
        token: The token in the first link; following it stores the token in a cookie.
    """

    port: int
    token: str = field(default_factory=lambda: token_urlsafe(24), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the cookie, with the port, since servers on several ports share cookies."""
        return f"foldline_inspect_{self.port}"

    def link(self, path: str = "/") -> str:
        """Return the first link, which leads to a page."""
        return f"http://127.0.0.1:{self.port}{path}?token={self.token}"

    def judge(
        self,
        method: str,
        headers: Mapping[str, str],
        cookies: Mapping[str, str],
        token: str,
        form: Mapping[str, str],
    ) -> Verdict:
        """
        Decide whether to answer a request.

        Args:
            method: GET or POST.
            headers: Its headers, names in lower case.
            cookies: Its cookies.
            token: The token in its address, "" if there is none.
            form: The fields that it posts.

        Returns:
            "enter" if it comes through the first link, and should receive the cookie.
        """
        if not self._is_here(headers):
            return "refused"
        if method == "GET" and token:
            return "enter" if self._is_token(token) else "refused"
        known = self._is_token(cookies.get(self.cookie, ""))
        form_valid = method != "POST" or self._is_token(form.get("token", ""))
        return "allowed" if known and form_valid else "refused"

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


LARGEST: Final = 64 * 1024
"""Maximum bytes of a form."""

FIELDS: Final = 50


def listen(port: int) -> socket.socket:
    """
    Return a socket that is reachable only from this machine.

    Args:
        port: 0 for any that is free.

    Raises:
        FoldlineError: The port is taken.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(("127.0.0.1", port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise FoldlineError(
            f"The port {port} cannot be used: {error.strerror}.",
            hint="Choose another with --port, or 0 for any free one.",
        ) from error
    return made


def serve(site: InspectorSite, access: Access, place: socket.socket) -> None:
    """Serve the pages until the program is interrupted."""
    settings = uvicorn.Config(
        application(site.answer, access),
        log_level="error",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    uvicorn.Server(settings).run(sockets=[place])


def application(answer: Callable[[PageRequest], PageResponse], access: Access) -> Starlette:
    """
    Return the application.

    Args:
        answer: Answers authorized requests.
        access: Authorizes requests.
    """

    async def respond(request: Request) -> Response:
        form = await _form(request)
        query = dict(parse_qsl(request.url.query, max_num_fields=FIELDS))
        if form is None:
            return _response(refusal_page())
        verdict = access.judge(
            request.method, request.headers, request.cookies, query.get("token", ""), form
        )
        if verdict == "refused":
            return _response(refusal_page())
        if verdict == "enter":
            made = _response(entry_page(request.url.path))
            made.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return made
        path = tuple(part for part in request.url.path.split("/") if part)
        call = PageRequest(request.method, path, query, form)
        return _response(await run_in_threadpool(answer, call))

    return Starlette(routes=[Route("/{path:path}", respond, methods=["GET", "POST"])])


async def _form(request: Request) -> dict[str, str] | None:
    """Return the fields of a form; None if it is too large or not a form."""
    if request.method != "POST":
        return {}
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST:
            return None
    try:
        return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=FIELDS))
    except ValueError:
        return None


def _response(answer: PageResponse) -> Response:
    kind = f"{answer.kind}; charset=utf-8"
    body = answer.body.encode("utf-8", "replace")
    return Response(body, answer.status, {**HEADERS, **answer.headers, "Content-Type": kind})
