"""Asking the model for the next message: once more after an overflow, and when it broke off."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from foldline.agents.events import Retried
from foldline.agents.repetition import Babble
from foldline.errors import ModelError
from foldline.models.completion import Completion, Delta
from foldline.models.failures import TIMEOUT
from foldline.models.overflow import overflow_in
from foldline.session import Session

Piece: TypeAlias = Delta | Retried | Completion

FULL: Final = {"role": "assistant", "content": [], "stop_reason": "model_context_window_exceeded"}
"""What a session is told when an answer ended because the window was full."""

SILENT, LOOP = "silent", "loop"
"""The codes of the errors for an answer that says nothing, and one that repeats itself."""


class Talks(Protocol):
    """A model, as far as an agent needs it; `foldline.models.model` makes one."""

    @property
    def dialect(self) -> str:
        """The wire format of its messages."""
        ...

    def astream(
        self,
        messages: Sequence[Any],
        *,
        tools: Sequence[Any] | None = None,
        system: str | None = None,
        max_tokens: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Delta | Completion, None]:
        """Yield the pieces of the next message, and at last the whole."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent around the messages; ``seconds`` is the time for one answer."""

    tools: list[dict[str, Any]]
    system: str | None
    max_tokens: int | None
    seconds: float
    retries: int


class Useless(ModelError):
    """An answer that cannot be used, although it was given and has to be paid."""

    completion: Completion | None = None


async def asked(session: Session, model: Talks, request: Request) -> AsyncGenerator[Piece, None]:
    """
    Yield the pieces of the model's next message, and at last the whole; nothing is recorded.

    A view that is too long is made smaller and sent once more. An answer that broke off, said
    nothing, repeated itself or gave two calls one id is asked for again.

    Raises:
        ContextOverflow: Nothing strictly smaller can be sent.
        ModelError: There is no answer, and asking again does not help; its code is "silent" or
            "loop" for an answer that says nothing or repeats itself.
    """
    view, left = await session.aview(), request.retries
    while True:
        try:
            async with aclosing(_watched(model, view, request)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except ModelError as error:
            full = isinstance(error, Useless) and error.code == "overflow"
            if full or overflow_in(error) is not None:
                view = await session.aoverflowed(FULL if full else error)
            elif left > 0 and _passes(error):
                left -= 1
                await asyncio.sleep(min(error.wait or 0.0, request.seconds))
            else:
                raise
            yield Retried(error.message, getattr(error, "completion", None))


async def _watched(
    model: Talks, view: Sequence[Any], request: Request
) -> AsyncGenerator[Delta | Completion, None]:
    """Yield one answer; raise an error for one that cannot be used."""
    babble = Babble()
    pieces = model.astream(
        view,
        tools=request.tools or None,
        system=request.system,
        max_tokens=request.max_tokens,
        timeout=request.seconds,
    )
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Completion):
                _check(piece)
            elif piece.kind == "text" and babble.after(piece.text):
                raise Useless("The answer repeats itself.", code=LOOP, retry=True)
            yield piece


def _check(done: Completion) -> None:
    ids = [call.id for call in done.calls]
    if done.stop == "overflow":
        error = Useless("The window was full before the answer was whole.", code="overflow")
    elif len(set(ids)) < len(ids):
        # Recorded, it would make every later request invalid.
        error = Useless("Two calls of the answer have the same id.", code="calls", retry=True)
    elif done.calls or done.text.strip() or done.stop in ("refusal", "length"):
        return
    else:
        error = Useless("The model said nothing.", code=SILENT, retry=True)
    error.completion = done
    raise error


def _passes(error: ModelError) -> bool:
    """Tell whether to ask again at once; what the client tried again itself is not."""
    return error.retry and error.status is None and error.code != TIMEOUT
