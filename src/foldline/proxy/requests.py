"""Requests that hold a conversation: recognition, parsing, and the client that sent them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any, Final

from foldline.formats.registry import dialect
from foldline.frozen import frozen
from foldline.proxy.request_body import MARK, Body, read_body, strip_cache_marks
from foldline.session.message_ids import MessageIds
from foldline.tokens.choose import choose_counter
from foldline.values.identity import content_hash
from foldline.values.messages import Message, Opaque, Role
from foldline.values.tokens import TokenCounter


@frozen
class ProxyEndpoint:
    """
    An API endpoint that takes conversations.

    ``dialect`` is the wire format, ``key`` the field of the messages, ``system`` that of the
    system prompt, ``caps`` the possible fields of the output cap. ``counts`` is True if the
    endpoint only counts tokens.
    """

    dialect: str
    key: str
    system: str = ""
    caps: tuple[str, ...] = ()
    counts: bool = False

    def cap(self, fields: Mapping[str, Any]) -> int | None:
        """Return the output cap in tokens, None if the request has none."""
        for name in self.caps:
            value = fields.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return None


_CHAT: Final = ("max_completion_tokens", "max_tokens")
_ENDPOINTS: Final = {
    "/chat/completions": ProxyEndpoint("openai-chat", "messages", "", _CHAT),
    "/responses": ProxyEndpoint(
        "openai-responses", "input", "instructions", ("max_output_tokens",)
    ),
    "/messages": ProxyEndpoint("anthropic", "messages", "system", ("max_tokens",)),
    "/messages/count_tokens": ProxyEndpoint("anthropic", "messages", "system", counts=True),
}


def find_endpoint(method: str, path: str) -> ProxyEndpoint | None:
    """Return the endpoint at a path, None for everything that is relayed unread."""
    if method != "POST":
        return None
    return next((found for end, found in _ENDPOINTS.items() if path.endswith(end)), None)


REMEMBERED: Final = 100_000
"""Maximum number of cached message ids and sizes; about 200 bytes each."""

MODELS: Final = 32
"""Maximum number of cached counters, one per model."""

LONGEST_NAME: Final = 100

KEPT_KINDS: Final = frozenset({"additional_tools", "compaction", "compaction_summary"})
"""Items that refer to content elsewhere: without them a request would mean something else."""


@frozen
class KnownMessage:
    """
    Cached facts of a message: the hash of its content, its tokens, its role, whether it must stay,
    and its part in the client's own compaction; see `compaction_step`.
    """

    content: str
    tokens: int
    role: Role
    must_stay: bool
    compaction: str


@frozen
class ConversationRequest:
    """
    A parsed request.

    ``ids`` are the session ids of its messages, ``known`` the cached facts of each.
    """

    endpoint: ProxyEndpoint
    body: Body
    known: Sequence[KnownMessage]
    ids: Sequence[str]
    hint: str
    client: str
    counter: TokenCounter

    @property
    def model(self) -> str:
        """The requested model, "" if none is named."""
        return _model_named(self.body)

    @property
    def tokens(self) -> int:
        """The counted tokens of its messages."""
        return sum(known.tokens for known in self.known)

    @property
    def root(self) -> tuple[str, bool]:
        """What never changes within a session: the wire format, and whether there are tools."""
        return self.endpoint.dialect, bool(self.body.fields.get("tools"))

    # The other fields are only counted: malformed ones are for the provider to reject, and no
    # reason to skip the conversation.

    @property
    def tools(self) -> list[Any]:
        """The tools of the request, none if they are not a list."""
        tools = self.body.fields.get("tools")
        return tools if isinstance(tools, list) else []

    @property
    def system(self) -> str:
        """The text of the system prompt outside the messages, "" if there is none."""
        value = self.body.fields.get(self.endpoint.system) if self.endpoint.system else None
        blocks = value if isinstance(value, list) else [{"text": value}]
        texts = [block.get("text") for block in blocks if isinstance(block, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))

    @cached_property
    def around(self) -> bytes:
        """A digest of system prompt and tools, to detect changes."""
        text = "\0".join(self.body.field(name) for name in (self.endpoint.system, "tools"))
        return blake2b(text.encode("utf-8"), digest_size=16).digest()

    def wire(self, position: int) -> Any:
        """Return a message as a session stores it: without cache marks."""
        return strip_cache_marks(self.body.messages[position])


class RequestReader:
    """Reads requests, and caches the facts of a message by its bytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, KnownMessage] = OrderedDict()
        self._counter = lru_cache(MODELS)(_counter)

    def read(
        self, endpoint: ProxyEndpoint, data: bytes, *, hint: str = "", client: str = ""
    ) -> ConversationRequest:
        """
        Read a request.

        Args:
            endpoint: The endpoint it was sent to.
            data: Its body.
            hint: The client's own name for the session.
            client: The client's name for itself.

        Raises:
            InputError: It cannot be read.
        """
        body = read_body(data, endpoint.key)
        counter = self._counter(dialect(endpoint.dialect).provider, _model_named(body))
        positions = range(len(body.messages))
        known = [self._message(endpoint, counter, body, position) for position in positions]
        ids = _identify(one.content for one in known)
        return ConversationRequest(endpoint, body, known, ids, hint, client, counter)

    def _message(
        self, endpoint: ProxyEndpoint, counter: TokenCounter, body: Body, position: int
    ) -> KnownMessage:
        source = body.source(position)
        text = f"{source}\0{endpoint.dialect}\0{counter.name}"
        key = blake2b(text.encode("utf-8"), digest_size=16).digest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        wire = body.messages[position]
        wire = strip_cache_marks(wire) if MARK in source else wire
        read = dialect(endpoint.dialect).decode([wire]).messages[0]
        must_stay = any(isinstance(p, Opaque) and p.kind in KEPT_KINDS for p in read.parts)
        known = KnownMessage(
            content_hash(read), counter.message(read), read.role, must_stay, compaction_step(read)
        )
        with self._lock:
            self._known[key] = known
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return known


def _model_named(body: Body) -> str:
    named = body.fields.get("model")
    return named[:LONGEST_NAME] if isinstance(named, str) else ""


def _counter(provider: str, model: str) -> TokenCounter:
    return TokenCounter(choose_counter(model or None), provider=provider)


def _identify(contents: Iterable[str]) -> list[str]:
    taken: set[str] = set()
    giving = MessageIds(taken)
    ids = []
    for content in contents:
        number = giving.give(content)
        taken.add(number)
        ids.append(number)
    return ids


# --- identification of clients ------------------------------------------------------------

HINTS: Final = ("x-claude-code-session-id", "session-id", "thread-id", "x-session-id")
"""Headers in which clients name their session."""

LONGEST_HINT: Final = 200

NAMES: Final = {"claude-cli": "claude-code", "codex-cli-rs": "codex", "codex-exec": "codex"}

SUMMARY_REQUESTS: Final = (
    "your task is to create a detailed summary of the conversation",  # Claude Code
    "you are performing a context checkpoint compaction",  # Codex
    "provide a detailed prompt for continuing our conversation",  # opencode
)
"""Openings of the clients' own summary prompts, in lower case."""

SUMMARY_INTRODUCTIONS: Final = (
    "this session is being continued from a previous conversation",  # Claude Code
    "another language model started to solve this problem and produced a summary",  # Codex
)
"""Openings of messages that continue from such a summary."""

ITEMS: Final = {
    "compaction_trigger": "asked",
    "compaction": "server",
    "compaction_summary": "server",
}
"""Items and blocks of compactions by the provider."""

LOOKED_AT: Final = 20_000
"""Number of characters of a message that are searched."""

EARLY: Final = 4
"""Number of first messages among which such a summary is searched."""


def session_hint(headers: Mapping[str, str]) -> str:
    """Return the client's own name for its session, "" if it names none."""
    return next((headers[name][:LONGEST_HINT] for name in HINTS if headers.get(name)), "")


def client_name(headers: Mapping[str, str]) -> str:
    """Return the client's name for itself, as a short word for names and logs."""
    product = headers.get("user-agent", "").partition("/")[0].lower()
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in product[:20]).strip("-")
    return NAMES.get(word, word) or "client"


def compaction_step(message: Message) -> str:
    """
    Recognise a message of a client's own compaction.

    Returns:
        "asked" for a request for a summary, "continued" for a summary that it continues from,
        "server" for one made by its provider; "" for any other message.
    """
    for part in message.parts:
        if isinstance(part, Opaque) and part.kind in ITEMS:
            return ITEMS[part.kind]
    text = message.text[:LOOKED_AT].lower() if message.role == "user" else ""
    if any(phrase in text for phrase in SUMMARY_REQUESTS):
        return "asked"
    return "continued" if any(phrase in text for phrase in SUMMARY_INTRODUCTIONS) else ""


def client_compaction(found: Sequence[str]) -> str:
    """
    Return the kind of a client's own compaction.

    Args:
        found: The results of `compaction_step` for the messages of a request.

    Returns:
        A value of `compaction_step`; "" if there is none.
    """
    if found and found[-1] == "asked":
        return "asked"
    if "server" in found:
        return "server"
    return "continued" if "continued" in found[:EARLY] else ""
