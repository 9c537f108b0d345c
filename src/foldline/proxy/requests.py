"""Which requests hold a conversation, whose they are, and what they say: each is read once."""

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
    A place that takes conversations.

    ``dialect`` is the wire format, ``key`` the field of the messages, ``system`` that of the
    system prompt, ``caps`` those that may hold the most tokens of the answer. ``counts`` says
    that nothing is answered but the size.
    """

    dialect: str
    key: str
    system: str = ""
    caps: tuple[str, ...] = ()
    counts: bool = False

    def cap(self, fields: Mapping[str, Any]) -> int | None:
        """Return the tokens reserved for the answer, None where the request has no cap."""
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
    """Return what is at a path, None for everything that is passed on unread."""
    if method != "POST":
        return None
    return next((found for end, found in _ENDPOINTS.items() if path.endswith(end)), None)


REMEMBERED: Final = 100_000
"""Messages whose id and size are remembered; about 200 bytes each."""

MODELS: Final = 32
"""Models whose counters are remembered."""

LONGEST_NAME: Final = 100

KEPT_KINDS: Final = frozenset({"additional_tools", "compaction", "compaction_summary"})
"""Items that stand for more than they say: without them a request would mean something else."""


@frozen
class KnownMessage:
    """
    A message: the hash of what it says, its tokens, its role, whether it must stay, and how the
    client compacts with it; see `compaction_step`.
    """

    content: str
    tokens: int
    role: Role
    must_stay: bool
    compaction: str


@frozen
class ConversationRequest:
    """
    A request for an answer.

    ``ids`` are those that its messages have in a session, ``known`` what is known of each.
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
        """The model that is asked, "" where none is named."""
        return _model_named(self.body)

    @property
    def tokens(self) -> int:
        """What its messages take, as counted here."""
        return sum(known.tokens for known in self.known)

    @property
    def root(self) -> tuple[str, bool]:
        """What no session mixes: wire formats, and requests with tools and without."""
        return self.endpoint.dialect, bool(self.body.fields.get("tools"))

    # What stands beside the messages is only counted: whatever is odd there is for the provider
    # to reject, and no reason to leave the conversation alone.

    @property
    def tools(self) -> list[Any]:
        """The tools that it offers, none where they are no list."""
        tools = self.body.fields.get("tools")
        return tools if isinstance(tools, list) else []

    @property
    def system(self) -> str:
        """The text of the system prompt beside the messages, "" where it holds none."""
        value = self.body.fields.get(self.endpoint.system) if self.endpoint.system else None
        blocks = value if isinstance(value, list) else [{"text": value}]
        texts = [block.get("text") for block in blocks if isinstance(block, dict)]
        return "\n".join(text for text in texts if isinstance(text, str))

    @cached_property
    def around(self) -> bytes:
        """A digest of system prompt and tools, to see whether they are others than before."""
        text = "\0".join(self.body.field(name) for name in (self.endpoint.system, "tools"))
        return blake2b(text.encode("utf-8"), digest_size=16).digest()

    def wire(self, position: int) -> Any:
        """Return a message as a session keeps it: without the marks for the cache."""
        return strip_cache_marks(self.body.messages[position])


class RequestReader:
    """Reads requests; what it knows of a message it knows by the bytes that it came in."""

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
            endpoint: What it was sent to.
            data: Its body.
            hint: The client's own name for the session.
            client: What the client calls itself.

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


# --- what clients say about themselves -----------------------------------------------------

HINTS: Final = ("x-claude-code-session-id", "session-id", "thread-id", "x-session-id")
"""Where clients name their session."""

LONGEST_HINT: Final = 200

NAMES: Final = {"claude-cli": "claude-code", "codex-cli-rs": "codex", "codex-exec": "codex"}

SUMMARY_REQUESTS: Final = (
    "your task is to create a detailed summary of the conversation",  # Claude Code
    "you are performing a context checkpoint compaction",  # Codex
    "provide a detailed prompt for continuing our conversation",  # opencode
)
"""How clients begin to ask for a summary of their own, in small letters."""

SUMMARY_INTRODUCTIONS: Final = (
    "this session is being continued from a previous conversation",  # Claude Code
    "another language model started to solve this problem and produced a summary",  # Codex
)
"""How they begin when they go on from one."""

ITEMS: Final = {
    "compaction_trigger": "asked",
    "compaction": "server",
    "compaction_summary": "server",
}
"""Items and blocks by which a client has its provider compact, and what that makes."""

LOOKED_AT: Final = 20_000
"""So much of a message is looked at, in characters."""

EARLY: Final = 4
"""Among so many of the first messages a summary stands that a client goes on from."""


def session_hint(headers: Mapping[str, str]) -> str:
    """Return the client's own name for its session, "" where it names none."""
    return next((headers[name][:LONGEST_HINT] for name in HINTS if headers.get(name)), "")


def client_name(headers: Mapping[str, str]) -> str:
    """Return what a client calls itself, as a short word for names and logs."""
    product = headers.get("user-agent", "").partition("/")[0].lower()
    word = "".join(c if c.isascii() and c.isalnum() else "-" for c in product[:20]).strip("-")
    return NAMES.get(word, word) or "client"


def compaction_step(message: Message) -> str:
    """
    Recognise a message by which a client compacts by itself.

    Returns:
        "asked" for a request for a summary, "continued" for a summary that it goes on from,
        "server" for one that its provider made; "" for any other message.
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
    Return how a client compacts by itself.

    Args:
        found: What `compaction_step` returned for each message of a request.

    Returns:
        As `compaction_step`; "" if it does not.
    """
    if found and found[-1] == "asked":
        return "asked"
    if "server" in found:
        return "server"
    return "continued" if "continued" in found[:EARLY] else ""
