"""Rewriting of requests: send the session's view, or the original bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from foldline.core.budget import UNKNOWN_WINDOW
from foldline.core.config import Config
from foldline.core.retention_settings import Outputs
from foldline.core.strategy import Policy
from foldline.errors import ContextOverflow, FoldlineError, InputError, ModelError
from foldline.frozen import frozen, replace
from foldline.models.catalogue import Catalogue
from foldline.proxy.background_summaries import BackgroundSummarizers
from foldline.proxy.conversation_matching import (
    ConversationMatcher,
    OpenConversation,
    is_compaction,
)
from foldline.proxy.request_body import MARK, add_cache_mark, cache_mark, write_message
from foldline.proxy.requests import (
    ConversationRequest,
    ProxyEndpoint,
    RequestReader,
    client_compaction,
    client_name,
    session_hint,
)
from foldline.session import Session
from foldline.stores.protocol import Store
from foldline.values.messages import Usage

Outcome: TypeAlias = Literal["unchanged", "view", "compacted", "failed", "unread"]
"""
The outcome of a request: sent unchanged; with the edits of earlier compactions; with a new
compaction; unchanged because the proxy failed; or unchanged and unread.
"""

RISKY: Final = 0.25
"""Fraction of the window above which a provider may reject a request as too long."""

MAX_OPEN: Final = 256
"""Maximum number of open sessions."""

OUTPUT_SHARE: Final = 0.5
"""
Fraction of the window above which a single tool output is cut on arrival. A session of the
library cuts much earlier; an unchanged agent has its own limits.
"""

STORED_HISTORY: Final = ("previous_response_id", "conversation")
"""Fields by which a request continues a history stored by the provider."""


@frozen
class Decision:
    """
    The body to send, and how it was made.

    ``before`` and ``after`` are the counted tokens of system prompt, tools and messages, of the
    original request and of the session's view; ``receipt`` names the newest compaction in effect.
    ``length`` is the number of messages in the session, ``risky`` is True if the request fills so
    much of the window that it may be rejected. ``compaction`` is the client's own compaction; see
    `foldline.proxy.requests.client_compaction`.
    """

    body: bytes
    outcome: Outcome
    reason: str = ""
    session: str = ""
    model: str = ""
    before: int = 0
    after: int = 0
    receipt: str = ""
    conversation: OpenConversation | None = None
    request: ConversationRequest | None = None
    length: int = 0
    risky: bool = False
    compaction: str = ""


@frozen
class ProxyOptions:
    """
    Options for opening sessions.

    ``window`` is in tokens, None for the model's own. With ``dry_run`` everything is measured and
    every request is sent unchanged. ``summarizers`` are the models that write summaries, None for
    none.
    """

    config: Config
    window: int | None = None
    policy: Policy | None = None
    dry_run: bool = False
    summarizers: BackgroundSummarizers | None = None


class RequestRewriter:
    """
    Decides what to send; on any error, the original request.

    Args:
        store: The archive; None for none.
        options: Options for opening sessions.
    """

    def __init__(self, store: Store | None, options: ProxyOptions) -> None:
        self._options = options
        self._reader = RequestReader()
        self._conversations = ConversationMatcher(store, self._session, most=MAX_OPEN)

    @property
    def sessions(self) -> int:
        """How many sessions are open."""
        return len(self._conversations)

    def decide(
        self, endpoint: ProxyEndpoint, data: bytes, headers: Mapping[str, str], path: str = ""
    ) -> Decision:
        """
        Return what to send instead of a request. Blocks; never raises.

        Args:
            endpoint: The endpoint it was sent to.
            data: Its body.
            headers: Its headers, with names in lower case.
            path: The path it was sent to.
        """
        try:
            hint, client = session_hint(headers), client_name(headers)
            request = self._reader.read(endpoint, data, hint=hint, client=client)
            if any(request.body.fields.get(name) for name in STORED_HISTORY):
                return Decision(data, "unread", "the provider keeps the history")
            if endpoint.counts:
                return self._count_only(request, data)
            with self._conversations.match(request) as conversation:
                if self._options.summarizers is not None:
                    name = conversation.session.name
                    self._options.summarizers.keep_credentials(name, headers, path)
                return self._decide(request, data, conversation, Session.view)
        except Exception as error:  # noqa: BLE001  # on any error the request is sent
            return Decision(data, "failed", _reason(error))

    def retry(self, decision: Decision, error: ModelError) -> Decision | None:
        """
        Return a smaller request after a rejection as too long; None if there is none.

        Args:
            decision: The decision that was sent.
            error: The provider's error.
        """
        request, conversation = decision.request, decision.conversation
        if request is None or conversation is None or self._options.dry_run:
            return None
        try:
            with conversation.lock:
                if len(conversation.ids) != decision.length:
                    return None  # the session has changed since
                smaller = self._decide(
                    request, decision.body, conversation, lambda s: s.overflowed(error)
                )
        except ContextOverflow:
            return None
        except Exception:  # noqa: BLE001  # the client gets the provider's error
            return None
        return smaller if len(smaller.body) < len(decision.body) else None

    def record_usage(self, decision: Decision, usage: Usage) -> None:
        """Record the provider's usage, if the session's view was sent."""
        conversation = decision.conversation
        if conversation is not None and not self._options.dry_run:
            conversation.answer = (decision.length, usage)

    def close(self) -> None:
        """Close all sessions."""
        self._conversations.close()

    # --- one decision --------------------------------------------------------------------------

    def _decide(
        self,
        request: ConversationRequest,
        data: bytes,
        conversation: OpenConversation,
        show: Callable[[Session], Sequence[Any]],
    ) -> Decision:
        session = conversation.session
        made = session.receipt_count
        view = show(session)
        fresh = [session.receipt(number) for number in range(made, session.receipt_count)]
        whole = tuple(range(len(request.ids)))
        # Before the first compaction, the client handles rejections itself.
        newest = _newest_compaction(session)
        pieces = _pieces(session, view) if newest else whole
        conversation.sent = pieces
        changed = pieces != whole
        now = any(map(is_compaction, fresh))
        overhead = session.budget.overhead
        after = session.tokens + overhead
        rewritten = changed and not self._options.dry_run
        return Decision(
            _write(request, pieces) if rewritten else data,
            "unchanged" if not changed else "compacted" if now else "view",
            fresh[-1].reason if now else "",
            session.name,
            request.model,
            request.tokens + overhead,
            after,
            newest,
            conversation,
            request,
            len(request.ids),
            after > RISKY * session.budget.scale,
            client_compaction([known.compaction for known in request.known]),
        )

    def _count_only(self, request: ConversationRequest, data: bytes) -> Decision:
        """Count the view that would be sent, without recording anything."""
        found = Decision(data, "unchanged", model=request.model)
        conversation = self._conversations.find_open(request)
        if conversation is None or self._options.dry_run:
            return found
        with conversation.lock:
            known = len(conversation.ids)
            if conversation.shares(request.ids) < known or not conversation.sent:
                return found
            pieces = (*conversation.sent, *range(known, len(request.ids)))
            found = replace(found, session=conversation.session.name)
        if pieces == tuple(range(len(request.ids))):
            return found
        return replace(found, body=_write(request, pieces), outcome="view")

    def _session(self, request: ConversationRequest, store: Store, name: str) -> Session:
        options = self._options
        config, summarizers = options.config, options.summarizers
        if config.outputs == Outputs():
            window = options.window or Catalogue.load().find(request.model).window
            hard = int(OUTPUT_SHARE * window)
            config = config.replace(outputs={"hard": hard, "soft": hard // 2})
        return Session.open(
            None,
            name,
            store=store,
            model=request.model or None,
            window=options.window,
            format=request.endpoint.dialect,
            policy=options.policy,
            config=config,
            counter=request.counter,
            output=None if options.window else _reserve(request),
            summarizer=summarizers.of(name, request) if summarizers else None,
        )


def _reserve(request: ConversationRequest) -> int | None:
    """Return the tokens reserved for the answer; at most half of a usual window."""
    cap = request.endpoint.cap(request.body.fields)
    return None if cap is None else min(cap, UNKNOWN_WINDOW // 2)


def _pieces(session: Session, view: Sequence[Any]) -> tuple[int | str, ...]:
    """Return positions in the request for original messages, and JSON for those made by edits."""
    return tuple(
        write_message(wire) if position is None else position
        for wire, position in zip(view, session.positions(view), strict=True)
    )


def _write(request: ConversationRequest, pieces: Sequence[int | str]) -> bytes:
    """Write the request; the cache mark of a removed message moves to its replacement."""
    lost = set(range(len(request.ids))).difference(p for p in pieces if isinstance(p, int))
    marks = [p for p in sorted(lost) if MARK in request.body.source(p)]
    mark = cache_mark(request.body.messages[marks[-1]]) if marks else None
    if mark is None:
        return request.body.with_messages(pieces)
    written = list(pieces)
    later = (at for at, p in enumerate(pieces) if isinstance(p, int) and p > marks[-1])
    for at in reversed(range(next(later, len(pieces)))):
        piece = pieces[at]
        if isinstance(piece, str):
            written[at] = write_message(add_cache_mark(json.loads(piece), mark))
            break
    return request.body.with_messages(written)


def _newest_compaction(session: Session) -> str:
    """Return the name of the newest compaction, "" if there is none."""
    numbers = reversed(range(session.receipt_count))
    newest = next((at for at in numbers if is_compaction(session.receipt(at))), None)
    return "" if newest is None else f"{session.name}/{newest}"


def _reason(error: Exception) -> str:
    """Describe an error without any content of the conversation."""
    if isinstance(error, InputError):
        message = "" if error.index is None else f" message {error.index},"
        return f"InputError:{message} field {error.field[:60] or 'unknown'}"
    if isinstance(error, FoldlineError):
        return f"{type(error).__name__}: {error.message[:200]}"
    return type(error).__name__
