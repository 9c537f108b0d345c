"""What to send instead of a request: what the session shows, or the very bytes that came."""

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
What became of a request: it went out as it came; with the edits of earlier compactions; with one
made for it; as it came because something in here failed; or as it came, unread.
"""

RISKY: Final = 0.25
"""The part of the window from which on a provider may find a request too long."""

MAX_OPEN: Final = 256
"""Sessions that are kept open."""

OUTPUT_SHARE: Final = 0.5
"""
The part of the window from which on a single tool output is cut when it comes. A session of the
library cuts much earlier; an unchanged agent has bounds of its own.
"""

STORED_HISTORY: Final = ("previous_response_id", "conversation")
"""Fields by which a request goes on from a history that its provider keeps."""


@frozen
class Decision:
    """
    What goes out.

    ``before`` and ``after`` are the tokens of system prompt, tools and messages as counted here,
    of what came and of what the session shows; ``receipt`` names the newest compaction in effect.
    ``length`` is how many messages the session had, ``risky`` says that so much of the window is
    taken that it may be rejected. ``compaction`` says how the client compacts by itself; see
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
    How sessions are opened.

    ``window`` is in tokens, None for the model's own. With ``dry_run`` everything is measured and
    every request goes out as it came. ``summarizers`` are models that say what happened, None for
    none.
    """

    config: Config
    window: int | None = None
    policy: Policy | None = None
    dry_run: bool = False
    summarizers: BackgroundSummarizers | None = None


class RequestRewriter:
    """
    Decides; whatever goes wrong, the decision is to send what came.

    Args:
        store: The archive; None for none.
        options: How sessions are opened.
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
        Return what to send instead of a request. Blocks; nothing is raised.

        Args:
            endpoint: What it was sent to.
            data: Its body.
            headers: Its headers, with names in lower case.
            path: Where it was sent to.
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
        except Exception as error:  # noqa: BLE001  # whatever it is: the request goes out
            return Decision(data, "failed", _reason(error))

    def retry(self, decision: Decision, error: ModelError) -> Decision | None:
        """
        Return what to send after the provider called a request too long; None for nothing.

        Args:
            decision: What was sent.
            error: What the provider said.
        """
        request, conversation = decision.request, decision.conversation
        if request is None or conversation is None or self._options.dry_run:
            return None
        try:
            with conversation.lock:
                if len(conversation.ids) != decision.length:
                    return None  # the session has gone on
                smaller = self._decide(
                    request, decision.body, conversation, lambda s: s.overflowed(error)
                )
        except ContextOverflow:
            return None
        except Exception:  # noqa: BLE001  # the client gets what the provider said
            return None
        return smaller if len(smaller.body) < len(decision.body) else None

    def record_usage(self, decision: Decision, usage: Usage) -> None:
        """Keep the usage that the provider reported, if it was sent what the session shows."""
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
        # As long as nothing was compacted, the client handles what the provider rejects.
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
        """Count what would be sent; nothing is recorded for it."""
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
    """Return what a provider keeps for the answer; never more than half of a usual window."""
    cap = request.endpoint.cap(request.body.fields)
    return None if cap is None else min(cap, UNKNOWN_WINDOW // 2)


def _pieces(session: Session, view: Sequence[Any]) -> tuple[int | str, ...]:
    """Return where what is shown stands in the request, and the JSON of what an edit made."""
    return tuple(
        write_message(wire) if position is None else position
        for wire, position in zip(view, session.positions(view), strict=True)
    )


def _write(request: ConversationRequest, pieces: Sequence[int | str]) -> bytes:
    """Write the request; a mark of a message that is no longer shown goes to what stands there."""
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
    """Name the newest compaction, "" where there is none."""
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
