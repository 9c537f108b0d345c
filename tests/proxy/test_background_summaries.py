"""A model writes summaries in the background, with the client's key, within a limit."""

import json
import threading

from tests.proxy.conftest import KEY, plain
from tests.proxy.rewriting import PATHS, decide, rewriter, turns, view_sent

from foldline.core.asks import Ask
from foldline.core.config import Config
from foldline.models.endpoint import Endpoint
from foldline.proxy.background_summaries import BackgroundSummarizers

LONG = turns(60)
HEADERS = {"x-api-key": KEY, "user-agent": "tester/1.0", "anthropic-version": "2023-06-01"}
ACCOUNT = "The user asks questions by number; all were answered."


def paid(upstream, usd=5.0, which="same"):
    summarizers = BackgroundSummarizers(Endpoint(upstream.url), which, usd)
    config = Config().replace(memory={"enabled": True}, limits={"usd": usd})
    return summarizers, config


def summary_reply(text, **usage):
    counts = {"input_tokens": 1_000, "output_tokens": 100} | usage
    content = [{"type": "text", "text": text}]
    return plain({"role": "assistant", "content": content, "usage": counts, "stop_reason": "end"})


def test_a_summary_is_written_in_the_background_and_used_when_due(upstream, tmp_path):
    asked = threading.Event()

    def reply(_):
        asked.set()
        return summary_reply(ACCOUNT)

    upstream.reply = reply
    summarizers, config = paid(upstream)
    who = rewriter(tmp_path / "a.db", summarizers=summarizers, config=config)
    for length in range(1, 119, 2):
        found = decide(who, LONG[:length], headers=HEADERS, model="claude-haiku-4-5")
        if found.outcome == "compacted":
            break
        if found.after > 12_000 and not asked.is_set():
            assert asked.wait(20)
    assert found.outcome == "compacted"
    sent = upstream.sent[0]
    assert sent.target == PATHS["anthropic"]
    assert sent.header("x-api-key") == KEY
    assert json.loads(sent.body)["model"] == "claude-haiku-4-5"
    assert any("question" in str(message) for message in view_sent(found))
    assert 0 < summarizers.spent < 0.1
    who.close()
    summarizers.close()
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_no_request_waits_for_a_summarizer(upstream, tmp_path):
    go_on = threading.Event()

    def reply(_):
        assert go_on.wait(30)
        return summary_reply(ACCOUNT)

    upstream.reply = reply
    summarizers, config = paid(upstream)
    who = rewriter(tmp_path / "a.db", summarizers=summarizers, config=config)
    outcomes = [
        decide(who, LONG[:n], headers=HEADERS, model="claude-haiku-4-5").outcome
        for n in range(1, 99, 2)
    ]
    assert "compacted" in outcomes
    go_on.set()
    who.close()
    summarizers.close()


def ask(summarizers, model="claude-haiku-4-5", allow=True):
    from foldline.proxy.requests import RequestReader, find_endpoint

    body = json.dumps({"model": model, "messages": LONG[:1]}).encode()
    request = RequestReader().read(find_endpoint("POST", "/v1/messages"), body)
    if allow:
        summarizers.keep_credentials("s", HEADERS, "/v1/messages")
    try:
        return summarizers.of("s", request)(Ask("Say what happened.", max_tokens=500))
    finally:
        summarizers.close()


def test_the_spending_limit_is_never_exceeded(upstream):
    upstream.reply = lambda _: summary_reply(ACCOUNT, input_tokens=400_000)
    summarizers, _ = paid(upstream, usd=0.01)
    assert ask(summarizers).text == ACCOUNT
    assert ask(summarizers).error == "the spending limit is reached"
    assert len(upstream.sent) == 1


def test_no_request_is_made_without_a_price_or_a_key(upstream):
    summarizers, _ = paid(upstream)
    assert ask(summarizers, model="nobody-knows").error == "its price is not known"
    assert (
        ask(summarizers := paid(upstream)[0], allow=False).error == "no request has brought a key"
    )
    assert (upstream.sent, summarizers.spent) == ([], 0.0)


def test_a_failure_costs_nothing_and_is_reported_without_the_key(upstream):
    upstream.reply = lambda _: plain({"error": {"message": f"bad {KEY}"}}, 401)
    summarizers, _ = paid(upstream)
    reply = ask(summarizers)
    assert reply.error
    assert KEY not in reply.error


def test_the_light_sibling_is_used_if_configured(upstream):
    upstream.reply = lambda _: summary_reply(ACCOUNT)
    summarizers, _ = paid(upstream, which="light")
    assert ask(summarizers, model="claude-opus-4-5").text == ACCOUNT
    assert json.loads(upstream.sent[0].body)["model"] == "claude-sonnet-4-5"
