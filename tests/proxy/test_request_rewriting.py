"""A rewritten request is the original bytes or the session's view; never a broken request."""

import json

import pytest
from tests.proxy.rewriting import PATHS, compacted, decide, rewriter, turns, view_sent

from foldline.formats.registry import dialect
from foldline.models.errors import provider_error
from foldline.proxy.requests import RequestReader, find_endpoint
from foldline.stores.sqlite import SqliteStore
from foldline.values.messages import Usage

LONG = turns(60)
MARK = {"type": "ephemeral"}
TOO_LONG = provider_error(
    b'{"type":"error","error":{"type":"invalid_request_error","message":'
    b'"prompt is too long: 9000 tokens > 8000 maximum"}}',
    status=400,
)


def on_wire(wire):
    if wire == "anthropic":
        return LONG
    text = {"role": "assistant", "content": ""}
    said = [m if m["role"] == "user" else {**text, "content": "reply"} for m in LONG]
    if wire == "openai-chat":
        return said
    kinds = {"user": "input_text", "assistant": "output_text"}
    return [
        {
            "type": "message",
            "role": m["role"],
            "content": [{"type": kinds[m["role"]], "text": m["content"]}],
        }
        for m in said
    ]


@pytest.mark.parametrize("wire", PATHS)
def test_below_the_trigger_the_original_bytes_are_sent(tmp_path, wire):
    who = rewriter(tmp_path / "a.db", window=None)
    for length in (1, 3, 9):
        found = decide(who, on_wire(wire)[:length], wire, unknown={"x": [1.0, 1e3]})
        assert found.outcome == "unchanged"
        assert b'"unknown":{"x":[1.0,1000.0]}' in found.body
        assert found.before == found.after > 0


@pytest.mark.parametrize("wire", PATHS)
def test_between_two_compactions_every_request_extends_the_previous_one(tmp_path, wire):
    who, history = rewriter(tmp_path / "a.db"), on_wire(wire)
    before, made = None, 0
    for length in range(1, len(history), 2):
        found = decide(who, history[:length], wire)
        made += found.outcome == "compacted"
        now = found.body[: found.body.rindex(b"]")]
        if before is not None and found.outcome != "compacted":
            assert now.startswith(before)
        assert dialect(wire).validate(json.loads(found.body)) == []
        assert found.after <= found.before
        before = now
    assert made >= 2


def test_fields_around_the_messages_are_never_changed(tmp_path):
    around = {
        "system": [{"type": "text", "text": "Be brief.", "cache_control": MARK}],
        "tools": [{"name": "read", "input_schema": {"type": "object"}, "new_field": 1}],
        "context_management": {"edits": [{"type": "clear_thinking_20251015"}]},
        "thinking": {"type": "adaptive"},
        "unheard_of": None,
    }
    who = rewriter(tmp_path / "a.db")
    _, found = compacted(who, LONG, **around)
    sent = json.loads(found.body)
    assert {name: sent[name] for name in around} == around
    assert found.body.endswith(json.dumps(around, separators=(",", ":"))[1:].encode())


@pytest.mark.parametrize(
    ("wire", "around"),
    [
        ("openai-responses", {"instructions": [{"type": "input_text", "text": "Be brief."}]}),
        ("openai-responses", {"instructions": {"text": "Be brief."}}),
        ("anthropic", {"system": {"type": "text", "text": "Be brief."}}),
        ("anthropic", {"system": 5}),
        ("openai-chat", {"tools": {"name": "read"}}),
    ],
)
def test_a_malformed_system_prompt_or_tools_do_not_prevent_compaction(tmp_path, wire, around):
    _, found = compacted(rewriter(tmp_path / "a.db"), on_wire(wire), wire=wire, **around)
    sent = json.loads(found.body)
    assert {name: sent[name] for name in around} == around


def test_the_texts_of_a_system_prompt_are_counted_in_every_shape():
    prompt = "Be brief. " * 100
    blocks = [{"type": "input_text", "text": prompt}, {"type": "other"}, 5]
    endpoint, items = find_endpoint("POST", "/v1/responses"), on_wire("openai-responses")[:1]
    bodies = ({"input": items, "instructions": given} for given in (prompt, blocks, {"a": 1}))
    read = [RequestReader().read(endpoint, json.dumps(body).encode()) for body in bodies]
    assert [request.system for request in read] == [prompt, prompt, ""]


def test_items_that_refer_to_other_content_are_kept(tmp_path):
    tools = {"type": "additional_tools", "tools": [{"type": "function", "name": "read"}]}
    history = [tools, *on_wire("openai-responses")]
    _, found = compacted(rewriter(tmp_path / "a.db"), [tools, *history], wire="openai-responses")
    assert tools in view_sent(found)


def test_a_mark_for_the_cache_is_not_lost_and_old_ones_do_not_come_back(tmp_path):
    def marked(history):
        last = history[-1]
        block = {"type": "text", "text": last["content"], "cache_control": MARK}
        return [*history[:-1], {"role": "user", "content": [block]}]

    who = rewriter(tmp_path / "a.db")
    outcomes = set()
    for length in range(1, 99, 2):
        found = decide(who, marked(LONG[:length]))
        outcomes.add(found.outcome)
        assert found.body.count(b"cache_control") == 1
    assert outcomes == {"unchanged", "compacted", "view"}


def test_a_marked_result_that_is_cut_keeps_its_mark(tmp_path):
    call = {"type": "tool_use", "id": "t1", "name": "read", "input": {}}
    text = "\n".join(f"line {n} of a long listing" for n in range(4_000))
    result = {"type": "tool_result", "tool_use_id": "t1", "content": text}
    history = [
        {"role": "user", "content": "read it"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{**result, "cache_control": MARK}]},
    ]
    found = decide(rewriter(tmp_path / "a.db", window=60_000), history)
    assert found.outcome == "view"
    assert found.body.count(b"cache_control") == 1
    assert view_sent(found)[-1]["content"][-1]["cache_control"] == MARK
    assert len(found.body) < len(text)


def test_a_history_stored_by_the_provider_is_not_changed(tmp_path):
    output = {"type": "function_call_output", "call_id": "c1", "output": "done"}
    who = rewriter(tmp_path / "a.db")
    found = decide(who, [output], "openai-responses", previous_response_id="r1")
    assert (found.outcome, view_sent(found)) == ("unread", [output])
    assert SqliteStore(tmp_path / "a.db").sessions() == ()


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "?"}]},
        {"role": "assistant", "content": [{"type": "server_tool_use", "id": "s", "name": "web"}]},
        {"role": "assistant", "content": []},
        {"role": "system", "content": "A reminder."},
        {"role": "user", "content": [{"type": "unheard_of", "value": {"a": 1}}]},
    ],
)
def test_malformed_messages_are_not_repaired_below_the_trigger(tmp_path, odd):
    history = [*LONG[:2], odd, *LONG[2:3]]
    found = decide(rewriter(tmp_path / "a.db"), history)
    assert (found.outcome, view_sent(found)) == ("unchanged", history)


def test_a_count_request_counts_the_view_and_records_nothing(tmp_path):
    who = rewriter(tmp_path / "a.db")
    length, made = compacted(who, LONG)
    path = "/v1/messages/count_tokens"
    found = decide(who, LONG[: length + 2], path=path)
    assert found.outcome == "view"
    assert view_sent(found) == [*view_sent(made), *LONG[length : length + 2]]
    assert decide(who, LONG[:3], path=path).outcome == "unchanged"
    assert len(SqliteStore(tmp_path / "a.db").sessions()) == 1


@pytest.mark.parametrize(
    "data",
    [b"", b"no json", b'{"messages":[{"role":7}]}', b'{"messages":[null]}', b"[" * 90_000],
)
def test_unreadable_requests_are_sent_unchanged(tmp_path, data):
    from foldline.proxy.requests import find_endpoint

    found = rewriter(tmp_path / "a.db").decide(find_endpoint("POST", "/v1/messages"), data, {})
    assert (found.body, found.outcome) == (data, "failed")
    assert found.reason


def test_a_failing_archive_does_not_fail_the_request(tmp_path):
    class Broken(SqliteStore):
        def commit(self, *_):
            raise OSError("disk full")

    from foldline.core.config import Config
    from foldline.proxy.request_rewriting import ProxyOptions, RequestRewriter

    who = RequestRewriter(Broken(tmp_path / "a.db"), ProxyOptions(Config(), 20_000))
    found = decide(who, LONG[:3])
    assert (found.outcome, view_sent(found)) == ("failed", LONG[:3])


def test_tools_that_fill_the_window_do_not_fail_the_request(tmp_path):
    tools = [{"name": f"t{n}", "description": "word " * 900} for n in range(40)]
    found = decide(rewriter(tmp_path / "a.db"), LONG[:3], tools=tools)
    assert found.outcome == "failed"
    assert json.loads(found.body)["tools"] == tools


def test_a_reason_holds_no_content_of_the_request(tmp_path):
    found = decide(rewriter(tmp_path / "a.db"), [{"role": 7, "content": "sk-secret"}])
    assert found.outcome == "failed"
    assert "secret" not in found.reason


def test_an_overflow_is_answered_with_a_smaller_request_once(tmp_path):
    who = rewriter(tmp_path / "a.db", window=None)
    found = decide(who, LONG[:31])
    smaller = who.retry(found, TOO_LONG)
    assert smaller is not None
    assert len(smaller.body) < len(found.body)
    assert (smaller.outcome, smaller.session) == ("compacted", found.session)
    assert who.retry(smaller, TOO_LONG) is None
    assert decide(who, LONG[:33]).body.startswith(smaller.body[: smaller.body.rindex(b"]")])


def test_an_overflow_that_cannot_shrink_is_relayed_to_the_client(tmp_path):
    who = rewriter(tmp_path / "a.db", window=None)
    found = decide(who, [{"role": "user", "content": "Hello."}])
    assert who.retry(found, TOO_LONG) is None


def test_a_dry_run_measures_and_sends_the_original():
    who = rewriter(dry_run=True)
    found = [decide(who, LONG[: 2 * n + 1]) for n in range(50)]
    assert {one.outcome for one in found} == {"unchanged", "compacted", "view"}
    assert [view_sent(one) for one in found] == [LONG[: 2 * n + 1] for n in range(50)]
    assert found[-1].after < found[-1].before
    assert who.retry(found[-1], TOO_LONG) is None


def test_reported_usage_decides_when_the_window_is_full(tmp_path):
    who = rewriter(tmp_path / "a.db")
    found = decide(who, LONG[:5])
    who.record_usage(found, Usage(17_000, 10))
    assert decide(who, LONG[:7]).outcome == "compacted"


def test_usage_of_a_later_edited_answer_is_ignored(tmp_path):
    who = rewriter(tmp_path / "a.db")
    who.record_usage(decide(who, LONG[:5]), Usage(17_000, 10))
    assert decide(who, [*LONG[:5], LONG[7], LONG[8], LONG[9], LONG[10]]).outcome == "unchanged"


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("Your task is to create a detailed summary of the conversation so far, paying", "asked"),
        ("You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff", "asked"),
        ("This session is being continued from a previous conversation that ran", "continued"),
        ("Mend the build.", ""),
    ],
)
def test_a_clients_own_compaction_is_recognised(tmp_path, last, expected):
    found = decide(rewriter(tmp_path / "a.db"), [{"role": "user", "content": last}])
    assert (found.outcome, found.compaction) == ("unchanged", expected)


def test_a_compaction_by_the_provider_is_recognised_and_kept(tmp_path):
    item = {"type": "compaction", "encrypted_content": "gAAAA…"}
    history = [item, *on_wire("openai-responses")]
    _, found = compacted(rewriter(tmp_path / "a.db"), [item, *history], wire="openai-responses")
    assert found.compaction == "server"
    assert item in view_sent(found)


def test_text_input_is_one_user_message(tmp_path):
    who = rewriter(tmp_path / "a.db")
    found = decide(who, 'Say hi: \u6c49 \\ "x"', "openai-responses")
    assert (found.outcome, found.reason) == ("unchanged", "")
    assert json.loads(found.body)["input"] == 'Say hi: \u6c49 \\ "x"'
    assert found.before > 0
    (message,) = found.conversation.session.messages
    assert (message.role, message.text) == ("user", 'Say hi: \u6c49 \\ "x"')
    answer = {"role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}
    item = {"role": "user", "content": 'Say hi: \u6c49 \\ "x"'}
    later = decide(who, [item, answer, item], "openai-responses")
    assert later.session == found.session


def test_shortened_text_input_is_sent_as_a_list(tmp_path):
    who = rewriter(tmp_path / "a.db", window=4_000)
    found = decide(who, "a line of words\n" * 4_000, "openai-responses", unknown=1)
    assert found.outcome == "compacted"
    assert found.after < found.before
    assert dialect("openai-responses").validate(json.loads(found.body)) == []
    assert json.loads(found.body)["unknown"] == 1


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (5, "InputError: field input"),
        ([{"role": 5, "content": "x"}], "InputError: message 0, field role"),
    ],
)
def test_the_reason_of_a_failure_names_a_message_only_if_one_caused_it(messages, reason):
    assert decide(rewriter(), messages, "openai-responses").reason == reason
