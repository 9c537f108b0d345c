"""
Accounts of what happened, by a model that the client's own key pays for, in the background.

The key is the one of the client's newest request. It is kept in memory as long as the session is
at hand, sent to nobody but the provider it came for, and never written anywhere.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from foldline.core.asks import Ask, ModelLimits, Reply
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
"""Headers that open the provider's door; they are taken over whole, and not looked into."""

MOST: Final = 512
"""Sessions whose keys are held; further ones push out the oldest."""


class BackgroundSummarizers:
    """
    Models that say what happened in sessions, within one sum of money.

    Args:
        upstream: The provider.
        which: "same" for the model that the client asks, "light" for its cheaper sibling.
        usd: The most that all of them may spend in US dollars, as long as the proxy runs.
    """

    def __init__(self, upstream: Endpoint, which: Literal["same", "light"], usd: float) -> None:
        self._upstream = upstream
        self._which = which
        self._usd = usd
        self._lock = threading.Lock()
        self._spent = 0.0
        self._doors: OrderedDict[str, Endpoint] = OrderedDict()
        self._transport = Transport()

    @property
    def spent(self) -> float:
        """What was spent so far, in US dollars."""
        return self._spent

    def of(self, session: str, request: ConversationRequest) -> SessionSummarizer:
        """Return who says what happened in a session."""
        name = choose_summarizer(self._which, request.model or "unknown").name
        info = Catalogue.load().find(name)
        return SessionSummarizer(self, session, name, info, PROTOCOLS[request.endpoint.dialect]())

    def allow(self, session: str, headers: Mapping[str, str], path: str) -> None:
        """Take over what opens the door, from the newest request of a session."""
        credentials = {name: Secret(headers[name]) for name in CREDENTIALS if headers.get(name)}
        with self._lock:
            self._doors[session] = Endpoint(self._upstream.url(path), headers=credentials)
            self._doors.move_to_end(session)
            if len(self._doors) > MOST:
                self._doors.popitem(last=False)

    def answer(self, summarizer: SessionSummarizer, ask: Ask) -> Reply:
        """Ask a model, if that can be paid."""
        with self._lock:
            door, left = self._doors.get(summarizer.session), self._usd - self._spent
        if door is None:
            return Reply(error="no request has brought a key", retry=False, attempts=0)
        # What it will cost at most is held back, so that two at once stay within the sum.
        read = len(ask.prompt.encode()) + len(ask.system.encode())
        price = summarizer.reader.usd(read // 2, ask.max_tokens)
        if price is None or price > left:
            words = "its price is not known" if price is None else "the spending limit is reached"
            return Reply(error=words, retry=False, attempts=0)
        self._pay(price)
        spent, wire = 0.0, summarizer.wire
        try:
            endpoint = replace(door, base_url=door.base_url.removesuffix(wire.path))
            sender = Sender(wire, endpoint, self._transport)
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
            self._doors.clear()
        self._transport.close()


@dataclass(frozen=True)
class SessionSummarizer:
    """Says what happened in one session; it is asked in the background only."""

    summarizers: BackgroundSummarizers
    session: str
    name: str
    info: ModelInfo
    wire: ProviderProtocol

    @cached_property
    def reader(self) -> ModelLimits:
        """What the model reads at most."""
        return replace(priced_limits(self.name, self.info, 0), background=True)

    def __call__(self, ask: Ask) -> Reply:
        """Answer; errors are part of the Reply."""
        return self.summarizers.answer(self, ask)
