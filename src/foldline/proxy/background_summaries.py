"""
Background summaries by a model that is paid for with the client's own key.

The key is that of the client's newest request. It is kept in memory while the session is open,
sent only to the provider it was meant for, and never stored.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Literal

from foldline.core.asks import Ask, ModelLimits, Reply
from foldline.frozen import frozen, replace
from foldline.models.catalogue import Catalogue, choose_summarizer
from foldline.models.client import Client, priced_limits
from foldline.models.completion import ProviderProtocol
from foldline.models.endpoint import Endpoint, Secret
from foldline.models.factory import PROTOCOLS
from foldline.models.info import ModelInfo
from foldline.models.sending import Sender
from foldline.models.transport import Transport
from foldline.proxy.requests import ConversationRequest

CREDENTIALS: Final = (
    *("authorization", "x-api-key", "api-key", "anthropic-version", "anthropic-beta"),
    *("openai-organization", "openai-project", "chatgpt-account-id"),
)
"""Authentication headers; they are copied unchanged and not inspected."""

MOST: Final = 512
"""Maximum number of sessions whose keys are held; the oldest is dropped first."""


class BackgroundSummarizers:
    """
    Models that summarize sessions, within one spending limit.

    Args:
        upstream: The provider.
        which: "same" for the model that the client uses, "light" for its cheaper sibling.
        usd: Spending limit of all summaries while the proxy runs, in US dollars.
    """

    def __init__(self, upstream: Endpoint, which: Literal["same", "light"], usd: float) -> None:
        self._upstream = upstream
        self._which = which
        self._usd = usd
        self._lock = threading.Lock()
        self._spent = 0.0
        self._credentials: OrderedDict[str, Endpoint] = OrderedDict()
        self._transport = Transport()

    @property
    def spent(self) -> float:
        """Total spending, in US dollars."""
        return self._spent

    def of(self, session: str, request: ConversationRequest) -> SessionSummarizer:
        """Return the summarizer of a session."""
        name = choose_summarizer(self._which, request.model or "unknown").name
        info = Catalogue.load().find(name)
        return SessionSummarizer(self, session, name, info, PROTOCOLS[request.endpoint.dialect]())

    def keep_credentials(self, session: str, headers: Mapping[str, str], path: str) -> None:
        """Keep the authentication headers of a session's newest request."""
        credentials = {name: Secret(headers[name]) for name in CREDENTIALS if headers.get(name)}
        with self._lock:
            self._credentials[session] = Endpoint(self._upstream.url(path), headers=credentials)
            self._credentials.move_to_end(session)
            if len(self._credentials) > MOST:
                self._credentials.popitem(last=False)

    def answer(self, summarizer: SessionSummarizer, ask: Ask) -> Reply:
        """Answer an Ask with a model, if the spending limit allows it."""
        with self._lock:
            endpoint = self._credentials.get(summarizer.session)
            left = self._usd - self._spent
        if endpoint is None:
            return Reply(error="no request has brought a key", retry=False, attempts=0)
        # The maximum cost is reserved, so that concurrent requests stay within the limit.
        read = len(ask.prompt.encode()) + len(ask.system.encode())
        price = summarizer.reader.usd(read // 2, ask.max_tokens)
        if price is None or price > left:
            why = "its price is not known" if price is None else "the spending limit is reached"
            return Reply(error=why, retry=False, attempts=0)
        self._pay(price)
        spent, wire = 0.0, summarizer.wire
        try:
            base_url = endpoint.base_url.removesuffix(wire.path)
            sender = Sender(wire, replace(endpoint, base_url=base_url), self._transport)
            reply = Client(summarizer.name, summarizer.info, sender).answer(ask)
            spent = price if reply.attempts and reply.usd is None else reply.usd or 0.0
        finally:
            self._pay(spent - price)
        return reply

    def _pay(self, usd: float) -> None:
        with self._lock:
            self._spent += usd

    def close(self) -> None:
        """Close the connections, and forget the keys."""
        with self._lock:
            self._credentials.clear()
        self._transport.close()


@frozen
class SessionSummarizer:
    """Summarizes one session, only in the background."""

    summarizers: BackgroundSummarizers
    session: str
    name: str
    info: ModelInfo
    wire: ProviderProtocol

    @cached_property
    def reader(self) -> ModelLimits:
        """The limits of the model."""
        return replace(priced_limits(self.name, self.info, 0), background=True)

    def __call__(self, ask: Ask) -> Reply:
        """Answer an Ask; errors are part of the Reply."""
        return self.summarizers.answer(self, ask)
