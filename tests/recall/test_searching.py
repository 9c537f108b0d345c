"""The results of a search by words or by pattern, and their size."""

import json

import pytest
from tests.growth import grows_linearly

from foldline import compact
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.recall import Folded, Holdings, recall
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter("o200k"))
SNAPSHOT = "a" * 32


def call(number, name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": number, "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number, text):
    return {"role": "tool", "tool_call_id": number, "content": text}


def folded(*wires, shortened=()):
    """Return holdings of messages folded into a snapshot, and their handles."""
    messages = OpenAIChatDialect().decode(list(wires)).messages
    ids = tuple(message.id for message in messages)
    inside = tuple(number for at, number in enumerate(ids) if at not in shortened)
    held = Holdings(
        {message.id: message for message in messages},
        {SNAPSHOT: Folded(inside, len(ids))},
        shortened=frozenset(ids[at] for at in shortened),
    )
    return held, [number[:HANDLE_LENGTH] for number in ids]


def ask(held, query, handle=SNAPSHOT, **access):
    return recall(held, handle, query=query, counter=COUNTER, **access).text


FILLER = "\n\n".join(f"Paragraph {n} of a long report about something else." for n in range(200))
STORY = [
    {"role": "user", "content": "Please find out why the login test is skipped."},
    call("c1", "read", path="tests/test_login.py"),
    result("c1", f"{FILLER}\n\nskip('flaky since the cache moved to redis')\n\n{FILLER}"),
    {"role": "assistant", "content": "The login test was skipped because the cache is flaky."},
    call("c2", "bash", command="grep -rn getUserName src"),
    result("c2", "src/app/users.py:12:def getUserName():\nsrc/app/users.py:90:    getUserName()"),
]


# --- by words ------------------------------------------------------------------------------


def test_a_question_finds_the_passage_that_answers_it_under_its_handle():
    held, handles = folded(*STORY)

    text = ask(held, "Why was the login test skipped?", max_tokens=100)

    first = text.split("\n[")[0]
    assert first == (
        f"[{handles[3]} assistant]\nThe login test was skipped because the cache is flaky."
    )


@pytest.mark.parametrize("query", ["redis caching", "REDIS", "caches moving", "`since the cache`"])
def test_words_are_found_in_any_form(query):
    held, handles = folded(*STORY)

    text = ask(held, query, max_tokens=150)

    assert f"[{handles[2]} result read tests/test_login.py]" in text
    assert "moved to redis" in text


@pytest.mark.parametrize("query", ["user name", "getUserName", "get_user_name", "users.py"])
def test_names_are_found_whole_and_by_their_parts(query):
    held, handles = folded(*STORY)

    assert f"[{handles[5]} result bash grep -rn getUserName src]" in ask(held, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们决定推迟发布，因为测试失败了。", "为什么推迟发布？"),
        ("キャッシュの移行は来週に延期されました。", "キャッシュの移行"),
        ("배포는 다음 주로 연기되었습니다.", "배포 연기"),
    ],
)
def test_scripts_without_blanks_are_searched_by_pairs_of_characters(text, query):
    held, handles = folded({"role": "user", "content": text}, *STORY)

    assert ask(held, query, max_tokens=120).startswith(f"[{handles[0]} user]\n{text}")


def test_a_search_of_a_snapshot_includes_shortened_messages():
    held, handles = folded(*STORY, shortened=(0,))

    assert ask(held, "please find out").startswith(f"[{handles[0]} user]")
    assert handles[0] not in recall(held, SNAPSHOT).text


def test_a_search_of_a_step_covers_only_that_step():
    held, handles = folded(*STORY)

    assert ask(held, "cache", handles[4]).startswith("[0 matches.")
    assert "users.py" in ask(held, "getUserName", handles[4])


def test_text_read_twice_is_returned_once_with_the_other_handle():
    again = [call("c3", "read", path="copy.py"), result("c3", STORY[2]["content"])]
    held, handles = folded(*STORY, *again)

    text = ask(held, "flaky since the cache moved to redis", max_tokens=200)

    assert text.count("moved to redis") == 1
    assert f"; also {handles[7]}]" in text


def test_every_passage_is_on_one_page_of_a_search():
    held, _ = folded(*STORY)
    whole = ask(held, "paragraph report")
    first = ask(held, "paragraph report", max_tokens=150)

    assert first.rpartition("\n")[2].startswith("[")
    assert "more passages: start=" in first
    start = int(first.rpartition("start=")[2].rstrip("]"))
    second = ask(held, "paragraph report", max_tokens=150, start=start)
    assert not set(first.split("\n")[1:-1]) & set(second.split("\n")[1:-1]) - {"…", ""}
    assert len(whole) > len(first)


@pytest.mark.parametrize("cap", [1, 5, 20, 60, 250])
@pytest.mark.parametrize("access", [{"query": "login cache users"}, {"grep": "cache|users|of"}])
def test_a_search_never_takes_more_than_the_cap(access, cap):
    held, _ = folded(*STORY)

    found = recall(held, SNAPSHOT, max_tokens=cap, counter=COUNTER, **access)

    assert COUNTER.text(found.text) <= cap


def test_a_query_without_hits_names_similar_words():
    held, _ = folded(*STORY)

    assert ask(held, "flakx") == "[0 matches. Similar words: flaky. Nor anywhere else.]"
    assert ask(held, "") != ""


def test_a_record_of_json_is_read_by_its_values():
    record = {"items": [{"name": "alpha", "note": "x" * 900}, {"name": "beta", "note": "ready"}]}
    held, _ = folded(*STORY, call("c3", "api", url="http://a"), result("c3", json.dumps(record)))

    text = ask(held, "is beta ready", max_tokens=120)

    assert "items[1].name: beta\nitems[1].note: ready" in text


def test_the_same_question_has_the_same_answer():
    held, _ = folded(*STORY)

    assert len({ask(held, "why is the cache flaky", max_tokens=200) for _ in range(3)}) == 1


def test_a_search_takes_time_in_proportion_to_the_text():
    def history(size):
        words = " ".join(f"word{n % 977} cache login.test" for n in range(size))
        return folded({"role": "user", "content": words})[0]

    def search(held):
        ask(held, "why is the login cache test flaky", max_tokens=200)

    assert grows_linearly(search, history, 4_000, 40_000)


# --- by a pattern ---------------------------------------------------------------------------


def test_matches_of_a_snapshot_are_listed_under_the_handle_that_numbers_their_lines():
    held, handles = folded(*STORY)

    text = recall(held, SNAPSHOT, grep="moved to redis", context=0).text

    heading, line = text.split("\n")
    assert heading == f"[{handles[2]} result read tests/test_login.py]"
    number, _, said = line.partition(": ")
    assert recall(held, handles[2], lines=number).text == said


def test_context_before_a_match_is_dropped_when_the_room_is_short():
    lines = [f"a line of context, number {n}" for n in range(40)]
    lines[20] = "the MATCH itself"
    held, handles = folded({"role": "user", "content": "\n".join(lines)})

    def find(cap):
        return recall(held, handles[0], grep="MATCH", max_tokens=cap, counter=COUNTER).text

    assert find(200).count("\n") == 4
    assert find(40).startswith("21: the MATCH itself\n22- ")
    assert find(12) == "21: the MATCH itself"


def test_a_path_that_lines_share_is_written_once():
    held, handles = folded(*STORY)

    text = recall(held, handles[5], grep="getUserName").text

    assert text == "src/app/users.py:\n1: 12:def getUserName():\n2: 90:    getUserName()"


def test_a_match_inside_of_one_line_json_is_the_whole_value_with_its_path():
    record = {"rows": [{"id": 1, "text": "a" * 400}, {"id": 2, "text": "the needle is here"}]}
    held, handles = folded({"role": "user", "content": json.dumps(record)})

    text = recall(held, handles[0], grep="needle").text

    assert text == "1: $.rows[1].text: the needle is here"


def test_equal_lines_of_two_results_are_returned_once():
    again = [call("c3", "read", path="copy.py"), result("c3", STORY[2]["content"])]
    held, handles = folded(*STORY, *again)

    text = recall(held, SNAPSHOT, grep="redis", context=0).text

    assert text.count("redis") == 1
    assert text.startswith(f"[{handles[2]} result read tests/test_login.py; also {handles[7]}]")


def test_matches_are_counted_up_to_a_limit():
    held, handles = folded({"role": "user", "content": "cache\n" * 12_000})

    found = recall(held, handles[0], grep="cache", max_tokens=60, counter=COUNTER)

    assert found.note == "10,000 matching lines at least."
    assert "[at least 9," in found.text


def test_a_query_is_used_where_a_pattern_matches_nothing():
    held, _ = folded(*STORY)

    assert "moved to redis" in ask(held, "redis", grep="valkey")
    assert "redis" not in ask(held, "redis", grep="getUserName")


# --- within a compaction ----------------------------------------------------------------------


def test_a_compaction_counts_the_tokens_of_what_it_recalls_by_itself():
    made = compact([*STORY, {"role": "user", "content": "Go on."}], budget=300)
    handle = next(h for h, words in made.receipt.recall.items() if "snapshot" in words)

    found = made.recall(handle, query="moved to redis", max_tokens=100)

    assert "moved to redis" in found.text
    assert made.counter is not None
    assert made.counter.text(found.text) <= 100
