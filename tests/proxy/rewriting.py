"""A rewriter with an archive, and requests of a client."""

import json
from typing import Any

from foldline.core.config import Config
from foldline.proxy.request_rewriting import Decision, ProxyOptions, RequestRewriter
from foldline.proxy.requests import find_endpoint
from foldline.stores.sqlite import SqliteStore

PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
}


def rewriter(path: Any = None, window: int | None = 20_000, **options: Any) -> RequestRewriter:
    store = None if path is None else SqliteStore(path, durability="process")
    return RequestRewriter(store, ProxyOptions(options.pop("config", Config()), window, **options))


def decide(
    who: RequestRewriter,
    messages: list[Any],
    wire: str = "anthropic",
    path: str = "",
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Decision:
    where = path or PATHS[wire]
    endpoint = find_endpoint("POST", where)
    assert endpoint is not None
    body = {"model": "m", endpoint.key: messages, **more}
    data = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    return who.decide(endpoint, data, headers or {"user-agent": "tester/1.0"}, where)


def view_sent(decision: Decision) -> list[Any]:
    value = json.loads(decision.body)
    return value.get("messages", value.get("input"))


def turns(count: int, words: int = 300, name: str = "word") -> list[dict[str, Any]]:
    """Create a conversation of whole turns: a question and its answer."""
    return [
        message
        for turn in range(count)
        for message in (
            {"role": "user", "content": f"question {turn} " + f"{name}{turn} " * words},
            {"role": "assistant", "content": [{"type": "text", "text": f"reply {name} {turn}"}]},
        )
    ]


def compacted(who: RequestRewriter, history: list[Any], **more: Any) -> tuple[int, Decision]:
    """Send a growing history until a compaction; return its length and the decision."""
    for length in range(1, len(history) + 1, 2):
        found = decide(who, history[:length], **more)
        assert found.outcome in ("unchanged", "compacted"), found.reason
        if found.outcome == "compacted":
            return length, found
    raise AssertionError("nothing was compacted")
