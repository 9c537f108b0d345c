"""The pages on a socket of this machine: the one file that knows Starlette and uvicorn."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from foldline.errors import FoldlineError
from foldline.inspector.access import HEADERS, Access
from foldline.inspector.site import Answer, Call, Site, entered, refused

LARGEST: Final = 64 * 1024
"""Bytes of a form that are read."""

FIELDS: Final = 50


def listen(port: int) -> socket.socket:
    """
    Return a socket that only this machine reaches.

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
            hint="Name another with --port, or 0 for any that is free.",
        ) from error
    return made


def serve(site: Site, access: Access, place: socket.socket) -> None:
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


def application(answer: Callable[[Call], Answer], access: Access) -> Starlette:
    """
    Return the application.

    Args:
        answer: Answers what may be answered.
        access: Judges what may.
    """

    async def respond(request: Request) -> Response:
        form = await _form(request)
        query = dict(parse_qsl(request.url.query, max_num_fields=FIELDS))
        if form is None:
            return _response(refused())
        verdict = access.judge(
            request.method, request.headers, request.cookies, query.get("token", ""), form
        )
        if verdict == "refused":
            return _response(refused())
        if verdict == "enter":
            made = _response(entered(request.url.path))
            made.set_cookie(access.cookie, access.token, httponly=True, samesite="strict")
            return made
        path = tuple(part for part in request.url.path.split("/") if part)
        call = Call(request.method, path, query, form)
        return _response(await run_in_threadpool(answer, call))

    return Starlette(routes=[Route("/{path:path}", respond, methods=["GET", "POST"])])


async def _form(request: Request) -> dict[str, str] | None:
    """Return the fields of a form; None where it is too large, or no form."""
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


def _response(answer: Answer) -> Response:
    kind = f"{answer.kind}; charset=utf-8"
    body = answer.body.encode("utf-8", "replace")
    return Response(body, answer.status, {**HEADERS, **answer.headers, "Content-Type": kind})
