"""The application: two addresses of the proxy's own, and everything else passed on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from foldline.proxy.forwarding import Forwarder, Parts


def application(parts: Parts) -> ASGIApp:
    """
    Return the application that a server runs.

    Args:
        parts: What it works with; the connections to the provider are closed when it ends.
    """

    def guarded(request: Request, response: Response) -> Response:
        refusal = parts.guard.refusal(dict(request.headers))
        if refusal is None:
            return response
        parts.meter.refusals[refusal.reason] += 1
        return PlainTextResponse(refusal.words, refusal.status)

    async def health(request: Request) -> Response:
        totals = parts.meter.totals(parts.judge.sessions)
        return guarded(request, JSONResponse(totals))

    async def metrics(request: Request) -> Response:
        text = parts.meter.exposition(parts.judge.sessions)
        return guarded(request, PlainTextResponse(text, media_type="text/plain; version=0.0.4"))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await parts.relay.aclose()

    routes = [
        Route("/healthz", health, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Mount("/", app=Forwarder(parts)),
    ]
    return Starlette(routes=routes, lifespan=lifespan)
