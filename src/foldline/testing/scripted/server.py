"""The server: it accepts requests, records them, and plays its script."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, Self

from foldline.core.budget import UNKNOWN_WINDOW
from foldline.formats.dialect import Violation
from foldline.formats.registry import dialect
from foldline.frozen import replace
from foldline.testing.scripted.anthropic import AnthropicWriter, TokenCountWriter
from foldline.testing.scripted.connection import Listener
from foldline.testing.scripted.openai import OpenAIChatWriter, OpenAIResponsesWriter
from foldline.testing.scripted.request import ReceivedRequest, TokenMeter, redact_headers
from foldline.testing.scripted.response import Response, StepPlayer
from foldline.testing.scripted.steps import AnswerWriter, ProviderError, Status, Step
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.messages import Usage
from foldline.values.tokens import TextCounter, TokenCounter

WIRES: Final[dict[str, AnswerWriter]] = {
    "/chat/completions": OpenAIChatWriter(),
    "/responses": OpenAIResponsesWriter(),
    "/messages": AnthropicWriter(),
    "/messages/count_tokens": TokenCountWriter(),
}
"""The API of a path, by its suffix."""

MID_SYSTEM: Final = "mid-conversation-system"
"""Prefix of the Anthropic beta that allows system messages among the others."""

CLOSING_SECONDS: Final = 2.0
"""Seconds that closing waits for connection threads; a blocking script is abandoned."""


class ScriptedServer:
    """
    A local model provider that answers from a script.

    Args:
        script: Steps, one per request in order of arrival (a string is an `Answer`),
            or a function from a `ReceivedRequest` to a step; it may be called by several
            threads at once, and may block.
        default: The step for requests after the last one of the script; without one they get
            status 500 and an error that the script is over.
        window: The model's real window in tokens: a request that exceeds it with its output cap
            is rejected as by the provider, and takes no step. None for no limit.
        strict: Whether requests that break the provider's rules are rejected with status 400,
            without taking a step; they are always recorded in ``violations``.
        counter: Counts texts; default: an estimate.
    """

    def __init__(
        self,
        script: Iterable[Step | str] | Callable[[ReceivedRequest], Step | str] = (),
        *,
        default: Step | str | None = None,
        window: int | None = None,
        strict: bool = True,
        counter: TextCounter | None = None,
    ) -> None:
        self.window = window
        self.strict = strict
        self._choose = script if callable(script) else _StepList(script, default)
        self._meter = TokenMeter(TokenCounter(counter or EstimatedCounter()))
        self._changed = threading.Condition()
        self._requests: list[ReceivedRequest] = []
        self._errors: list[BaseException] = []
        self._listener = Listener(self.respond)
        serve = partial(self._listener.serve_forever, poll_interval=0.02)
        self._thread = threading.Thread(target=serve, name="foldline-scripted-server", daemon=True)
        self._thread.start()

    # --- for tests -------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """Its address for the Anthropic SDK: ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._listener.server_port}"

    @property
    def openai_url(self) -> str:
        """Its address for the OpenAI SDK, with ``/v1``."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> tuple[ReceivedRequest, ...]:
        """All requests so far, in order of arrival."""
        with self._changed:
            return tuple(self._requests)

    @property
    def violations(self) -> tuple[Violation, ...]:
        """All rules that requests broke."""
        return tuple(found for request in self.requests for found in request.violations)

    @property
    def errors(self) -> tuple[BaseException, ...]:
        """Errors of the script function and of the server."""
        with self._changed:
            return (*self._errors, *self._listener.failures)

    def wait(self, requests: int, seconds: float = 10.0) -> bool:
        """Wait for a number of requests; return False if they do not arrive within ``seconds``."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= requests, seconds)

    # --- for connections -------------------------------------------------------------------

    def respond(self, method: str, path: str, headers: dict[str, str], body: Any) -> Response:
        """Record a request and return its response; called by connection threads."""
        ending = next((end for end in WIRES if path.endswith(end)), "")
        wire = WIRES.get(ending) if method == "POST" else None
        request = self._record(method, path, headers, body, wire)
        known = wire or WIRES["/chat/completions"]
        player = StepPlayer(known, request, self._meter, self.window or UNKNOWN_WINDOW)
        if "websocket" in headers.get("upgrade", "").lower():
            return player.reject(ProviderError(426, "There are no WebSockets here."))
        if wire is None:
            return player.reject(ProviderError(404, f"Nothing is at {method} {path[:200]}."))
        refusal = self._refusal(player)
        if refusal is not None:
            return player.reject(refusal)
        if ending.endswith("count_tokens"):
            return Response(200, (b'{"input_tokens": %d}' % request.tokens,))
        try:
            return player.play(self._choose(request))
        except Exception as error:  # noqa: BLE001  # a script is user code
            with self._changed:
                self._errors.append(error)
            text = f"The script failed: {type(error).__name__}: {error}"
            return player.reject(ProviderError(500, text), again=False)

    def _record(
        self, method: str, path: str, headers: dict[str, str], body: Any, wire: AnswerWriter | None
    ) -> ReceivedRequest:
        name = "" if wire is None else wire.dialect
        beta = MID_SYSTEM in headers.get("anthropic-beta", "")
        found = () if wire is None else tuple(_violations(wire, body, mid_system=beta))
        with self._changed:
            number, redacted, now = len(self._requests), redact_headers(headers), time.time()
            request = ReceivedRequest(number, method, path, name, redacted, body, now)
            usage = self._usage(request) if name else Usage()
            request = replace(request, usage=usage, violations=found)
            self._requests.append(request)
            self._changed.notify_all()
        return request

    def _usage(self, request: ReceivedRequest) -> Usage:
        """Count a request; Anthropic caches only marked prefixes, and reports cache writes."""
        automatic = request.format != "anthropic"
        try:
            marked = automatic or "cache_control" in repr(request.body)
            usage = self._meter.count_request(request.transcript, marked=marked)
        except RecursionError:  # Tool schemas too deeply nested to write.
            return Usage()
        return Usage(0, 0, usage.cache_read, usage.input) if marked and not automatic else usage

    def _refusal(self, player: StepPlayer) -> ProviderError | None:
        """Return why the provider would reject a request, regardless of the script."""
        request = player.request
        if request.violations and self.strict:
            return ProviderError(400, "; ".join(map(str, request.violations[:5])))
        cap = player.writer.cap(request.body) if isinstance(request.body, dict) else None
        if self.window is not None and request.tokens + (cap or 0) > self.window:
            return player.writer.overflow(self.window, request.tokens, cap)
        return None

    # --- the end ---------------------------------------------------------------------------

    def close(self) -> None:
        """Stop listening and end every connection; may be called twice, and never hangs."""
        self._listener.shutdown()
        self._listener.server_close()
        end = time.monotonic() + CLOSING_SECONDS
        self._thread.join(CLOSING_SECONDS)
        while self._listener.open and time.monotonic() < end:
            self._listener.hang_up()
            self._listener.ended.wait(0.05)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _StepList:
    """A list of steps, one per request."""

    def __init__(self, steps: Iterable[Step | str], default: Step | str | None) -> None:
        self._lock = threading.Lock()
        self._steps: Iterator[Step | str] = iter(tuple(steps))
        self._default = default
        self._taken = 0

    def __call__(self, request: ReceivedRequest) -> Step | str:
        with self._lock:
            step = next(self._steps, self._default)
            self._taken += step is not None
        if step is not None:
            return step
        taken = f"its {self._taken} steps were taken, and this is request {request.number + 1}"
        text = f"The script is over: {taken}. Add a step, or a default."
        return Status(500, message=text, again=False)


def _violations(wire: AnswerWriter, body: Any, *, mid_system: bool) -> Iterator[Violation]:
    """
    Check a request: that it is an object, its required fields, and its messages.

    Args:
        wire: Its wire format.
        body: The received body.
        mid_system: Whether messages of the role "system" may follow the first one.
    """
    if not isinstance(body, dict):
        yield Violation(0, "", "type", "the request is not a JSON object")
        return
    for field in wire.required:
        if body.get(field) is None:
            yield Violation(0, field, "missing", f"the request has no {field}")
    messages = body.get("messages")
    if wire.dialect == "anthropic" and not mid_system and isinstance(messages, list):
        for index, message in enumerate(messages):
            if isinstance(message, dict) and message.get("role") == "system":
                yield Violation(index, "role", "role", f"a system message needs the {MID_SYSTEM}")
    yield from dialect(wire.dialect).validate(body)
