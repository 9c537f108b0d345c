import asyncio
import json

import pytest

from foldline.errors import StoreError
from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.tokens.estimate import EstimatedCounter
from foldline.tools import ErrorCode, Toolbox, session_tools
from foldline.tools.recall import LEAST, PAGE

LINES = "".join(f"{n}: the value is {n * 7}\n" for n in range(1, 4_001))


@pytest.fixture
def session():
    with Session.open(
        None,
        "s",
        store=MemoryStore(),
        window=100_000,
        format="openai-chat",
        counter=EstimatedCounter("o200k"),
    ) as opened:
        opened.append({"role": "user", "content": "Look it up."})
        yield opened


def add(session, number, text, name="bash", arguments=None):
    function = {"name": name, "arguments": json.dumps(arguments or {"command": f"run {number}"})}
    call = {"id": f"c{number}", "type": "function", "function": function}
    session.append({"role": "assistant", "content": None, "tool_calls": [call]})
    return session.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})


@pytest.fixture
def tools(session):
    return Toolbox(session_tools(session))


@pytest.mark.requirement("F93")
def test_removed_content_is_read_in_pages_completely_and_in_order(session, tools):
    handle = add(session, 1, LINES)[:8]
    read, start, pages = "", 0, 0
    while True:
        output = tools.run("recall", {"handle": handle, "start": start})
        page, _, note = output.text.rpartition("\n[Characters")
        read += page
        pages += 1
        if output.status == "success":
            break
        start = int(note.partition("start=")[2].rstrip(".]"))
    assert read == LINES
    assert pages > 3


@pytest.mark.requirement("F99")
def test_recording_a_page_never_cuts_it_again(session, tools):
    handle = add(session, 1, LINES)[:8]
    for number in range(2, 8):
        output = tools.run("recall", {"handle": handle, "start": 0})
        assert session.budget.limit > PAGE
        before = len(session.receipts)
        kept = add(session, number, output.text, "recall", {"handle": handle})
        assert len(session.receipts) == before
        assert session.messages[-1].id == kept
        assert output.text in session.view()[-1]["content"]


@pytest.mark.requirement("F99")
def test_recalled_pages_of_pages_do_not_grow(session, tools):
    handle = add(session, 1, LINES)[:8]
    texts = []
    for number in range(2, 6):
        text = tools.run("recall", {"handle": handle}).text
        texts.append(text)
        handle = add(session, number, text, "recall", {"handle": handle})[:8]
    assert len(texts[1]) <= len(texts[0]) + 80
    assert all("1: the value is 7\n" in text for text in texts)


def test_an_answer_with_a_cut_line_is_partial(session, tools):
    handle = add(session, 1, f"{'x ' * 5_000} the zebra {'y ' * 5_000}")[:8]
    for way in ("query", "grep"):
        output = tools.run("recall", {"handle": handle, way: "zebra", "max_tokens": LEAST})
        assert "the zebra" in output.text
        assert output.status == "partial"


def test_in_a_small_window_a_page_is_small():
    with Session.open(None, "s", store=MemoryStore(), window=2_000, format="openai-chat") as small:
        small.append({"role": "user", "content": "x"})
        handle = add(small, 1, LINES[:9_000])[:8]
        text = Toolbox(session_tools(small)).run("recall", {"handle": handle}).text
        counter = small._state.settings.counter
        assert LEAST / 2 < counter.text(text) <= LEAST + 40


def test_lines_a_pattern_and_a_json_path_narrow_it_down(session, tools):
    handle = add(session, 1, LINES)[:8]
    assert "5: the value is 35" in tools.run("recall", {"handle": handle, "lines": "5:5"}).text
    hits = tools.run("recall", {"handle": handle, "grep": "value is 77$"}).text
    assert "11: the value is 77" in hits
    value = add(session, 2, json.dumps({"a": {"b": ["found it"]}}))[:8]
    assert "found it" in tools.run("recall", {"handle": value, "path": "a.b[0]"}).text
    # Arguments that a model leaves blank are ignored.
    blank = {"handle": handle, "lines": "5:5", "grep": "", "path": ""}
    assert "5: the value is 35" in tools.run("recall", blank).text


@pytest.mark.requirement("F93")
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        ({"handle": "nothing"}, ErrorCode.NOT_FOUND, "is not a handle"),
        ({"handle": ""}, ErrorCode.NOT_FOUND, "is not a handle"),
        ({"handle": "0123456789"}, ErrorCode.NOT_FOUND, "Nothing is kept under"),
        ({"grep": "("}, ErrorCode.NOT_FOUND, ""),
        ({"lines": "9999:"}, ErrorCode.NOT_FOUND, ""),
        ({"path": "a.b"}, ErrorCode.NOT_FOUND, ""),
        ({"start": 10**9}, ErrorCode.NOT_FOUND, "past the end"),
        ({"start": -1}, ErrorCode.INVALID_ARGUMENTS, "at least 0"),
        ({"handle": [5]}, ErrorCode.INVALID_ARGUMENTS, "string expected"),
        ({"lines": 2.5}, ErrorCode.INVALID_ARGUMENTS, "string expected"),
        ({"max_tokens": "many"}, ErrorCode.INVALID_ARGUMENTS, "integer expected"),
        ({"max_tokens": 10**9}, ErrorCode.INVALID_ARGUMENTS, "at most 4000"),
        ({"more": 1}, ErrorCode.INVALID_ARGUMENTS, "unknown"),
    ],
)
def test_a_failed_recall_is_reported_with_a_hint(session, tools, arguments, code, told):
    handle = add(session, 1, LINES[:900])[:8]
    given = {"handle": handle, **arguments}
    for output in (tools.run("recall", given), asyncio.run(tools.arun("recall", given))):
        assert (output.status, output.code) == ("error", code)
        assert told in output.text


def test_a_closed_session_returns_an_error_output(session, tools):
    handle = add(session, 1, LINES)[:8]
    session.close()
    output = tools.run("recall", {"handle": handle})
    assert (output.code, "closed" in output.text) == (ErrorCode.UNAVAILABLE, True)
    with pytest.raises(StoreError):
        session.recall(handle)


def test_the_async_twin_reads_the_same(session, tools):
    handle = add(session, 1, LINES)[:8]
    output = asyncio.run(tools.arun("recall", {"handle": handle, "lines": "1:3"}))
    assert output == tools.run("recall", {"handle": handle, "lines": "1:3"})
    assert output.ok


def test_an_empty_text_is_reported_as_empty(session, tools):
    handle = add(session, 1, "")[:8]
    assert tools.run("recall", {"handle": handle}).text == "[It is empty.]"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"lines": 3}, {"lines": "3"}),
        ({"lines": -1}, {"lines": "-1"}),
        ({"max_tokens": "200"}, {"max_tokens": 200}),
        ({"start": "5"}, {"start": 5}),
        ({"grep": 77}, {"grep": "77"}),
        ({"grep": None, "query": None, "lines": None, "path": None, "max_tokens": None}, {}),
    ],
)
def test_what_a_model_writes_in_another_type_is_understood(session, tools, written, meant):
    handle = add(session, 1, LINES[:900])[:8]
    expected = tools.run("recall", {"handle": handle, **meant})
    assert expected.ok
    assert tools.run("recall", {"handle": handle, **written}).text == expected.text


@pytest.mark.parametrize("around", ["[{}]", "#{}", "`{}`", " <{}>"])
def test_a_handle_is_found_with_what_was_copied_along(session, tools, around):
    handle = add(session, 1, "the value")[:6]
    assert tools.run("recall", {"handle": around.format(handle)}).text == "the value"


@pytest.mark.parametrize("digits", ["123456", "012345"])
def test_a_handle_without_letters_may_come_as_a_number(session, tools, digits):
    output = tools.run("recall", {"handle": int(digits)})
    assert f"Nothing is kept under {digits}" in output.text
    numeric = (add(session, n, f"value {n}") for n in range(1_000))
    handle = next(number[:6] for number in numeric if number[:6].isdigit())
    assert tools.run("recall", {"handle": int(handle)}).text.startswith("value ")
