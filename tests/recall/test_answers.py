"""What of the best passages is written where the room is short."""

import json
import re

import pytest
from tests.recall.test_searching import COUNTER, SNAPSHOT, ask, call, folded, result

from foldline import Session, compact
from foldline.recall import recall
from foldline.stores.memory import MemoryStore

USERS = {
    "users": [
        {"id": n, "name": f"user{n}", "quota": {"limit": 1_000 + n, "used": 3 * n}}
        for n in range(120)
    ],
    "next": "cursor_abc123",
}


def output(text):
    """Return holdings with one result of a tool, and its handle."""
    held, handles = folded(call("c1", "bash", command="run"), result("c1", text))
    return held, handles[1]


def test_the_value_in_one_line_of_json_that_is_asked_for_is_in_a_small_answer():
    held, _ = output(json.dumps(USERS))

    text = ask(held, "user57", max_tokens=250)

    assert "users[57].name: user57\nusers[57].quota.limit: 1057" in text
    assert COUNTER.text(text) <= 250
    assert not text.endswith("…")


def test_equal_values_of_other_records_are_not_the_same_answer():
    notes = "It was shipped to the same address as the one before it. " * 4
    held, _ = output(json.dumps({"orders": [{"notes": notes}, {"notes": notes}]}))

    text = ask(held, "shipped address")

    assert "orders[0].notes" in text
    assert "orders[1].notes" in text


def test_what_stands_beside_a_match_comes_after_it():
    line = "/home/user/project/src/app/main.py:7: x = 1"
    held, _ = output(json.dumps({"0;0": [f"{line} zebra {line} number0", line, "", "1A"]}))

    assert "zebra" in ask(held, "zebra", max_tokens=60)


BUILD = "\n".join([*(f"unit {n} ok" for n in range(200)), "unit 201 FAILED in QueueWorker", "Bye"])


@pytest.mark.parametrize("cap", [25, 40, 60, 100, 250])
def test_the_line_that_matches_stays_and_lines_before_it_give_way(cap):
    held, handle = output(BUILD)

    text = ask(held, "QueueWorker failure", max_tokens=cap)

    assert text.startswith(f"[{handle} result")
    assert "\nunit 201 FAILED in QueueWorker" in text
    assert COUNTER.text(text) <= cap


def test_as_many_lines_stand_around_a_match_as_there_is_room_for():
    held, _ = output(BUILD)

    sizes = [ask(held, "QueueWorker", max_tokens=cap).count("\n") for cap in (30, 60, 300)]

    assert sizes == sorted(set(sizes))


def test_what_is_left_out_between_matches_leaves_a_sign():
    lines = ["first zebra", *(f"{n}" for n in range(20)), "other zebra"]
    held, handle = output("\n".join(lines))

    text = ask(held, "zebra", max_tokens=25)

    assert text.startswith(f"[{handle} result bash run]\nfirst zebra\n0\n")
    assert text.endswith("\n19\nother zebra")
    assert text.count("\n…\n") == 1


def test_passages_that_are_left_are_counted_in_the_last_line_however_small_the_answer_is():
    report = "\n\n".join(f"The zebra number {n} was counted. " * 6 for n in range(9))
    held, _ = output(report)

    for cap in (60, 100, 250):
        text = ask(held, "zebra", max_tokens=cap)
        last = text.rpartition("\n")[2]
        assert re.fullmatch(r"\[(Cut: lines=\d+ of \w+; )?\d more passages: start=\d\]", last)


def test_matching_lines_that_have_no_room_are_named_in_the_last_line():
    held, handle = output("\n".join(f"the zebra number {n}" for n in range(14)))

    text = ask(held, "zebra", max_tokens=60)
    lines = re.search(rf"\[Cut: lines=(\d+:\d+) of {handle}\]$", text)

    assert lines is not None
    missing = recall(held, handle, lines=lines[1]).text.split("\n")
    assert set(text.split("\n")[1:-1]) | set(missing) == {
        f"the zebra number {n}" for n in range(14)
    }


@pytest.mark.parametrize("access", [{"lines": "5:"}, {"path": "notes"}])
def test_numbers_of_missing_lines_are_those_of_all_that_the_handle_recalls(access):
    notes = "\n".join(["x"] * 6 + [f"the zebra number {n}" for n in range(14)])
    held, handle = output(json.dumps({"notes": notes}) if "path" in access else notes)

    text = ask(held, "zebra", handle, max_tokens=60, **access)

    where = "that path" if "path" in access else handle
    first = re.search(rf"\[Cut: lines=(\d+):20 of {where}\]$", text)
    assert first is not None
    kept = text.count("the zebra")
    assert int(first[1]) == 7 + kept


def test_a_long_value_is_cut_around_the_word_and_its_path_recalls_it():
    value = "a " * 100 + "the zebra is here" + " b" * 35
    held, handle = output(json.dumps({"rows": [{"id": 1}, {"note": value}]}))

    text = ask(held, "zebra", max_tokens=60)

    assert re.search(r"\nrows\[1\]\.note: …[a ]+ the zebra is here[b ]+…\n", text)
    path = re.search(rf"\[Cut: path=(\S+) of {handle}[;\]]", text.rpartition("\n")[2])
    assert path is not None
    assert recall(held, handle, path=path[1]).text == value


def find(held, pattern, cap, **access):
    return recall(held, SNAPSHOT, grep=pattern, max_tokens=cap, counter=COUNTER, **access).text


@pytest.mark.parametrize("cap", [30, 60, 250])
def test_a_long_line_is_cut_around_the_match_of_a_pattern_and_the_last_line_stays(cap):
    line = "a " * 900 + "the zebra is here" + " b" * 900
    held, handle = output(f"{line}\n{line} too")

    text = find(held, "zebra", cap)

    assert "the zebra" in text
    assert text.endswith("1 more matches: start=1]")
    assert COUNTER.text(text) <= cap
    if cap > 30:
        assert f"\n[Cut: lines=1 of {handle}; " in text


def test_a_heading_gives_way_to_the_match_of_a_pattern():
    held, handles = folded(call("c1", "bash", command="查找" * 40), result("c1", "x\nzebra\ny"))

    assert find(held, "^zebra", 30) == f"[{handles[1]}]\n2: zebra"


def test_a_value_in_one_line_of_json_is_whole_where_it_fits_and_its_path_recalls_it_otherwise():
    value = "the zebra was seen at noon, and " * 40
    held, handle = output(json.dumps({"rows": [{"id": 1}, {"note": value}]}))

    whole, cut = find(held, "zebra", 2_000), find(held, "zebra", 250)

    assert whole.endswith(f"]\n1: $.rows[1].note: {value}")
    assert cut.endswith(f"\n[Cut: path=$.rows[1].note of {handle}]")
    assert recall(held, handle, path="$.rows[1].note").text == value


LONG = " ".join(f"Sentence {n} of a long line about the weather." for n in range(20))


def test_a_part_of_a_long_line_says_so_and_how_all_of_it_is_recalled():
    line = f"{LONG} The zebra was here. {LONG}"
    held, handle = output(f"first\n{line}")

    text = ask(held, "zebra", max_tokens=250)

    assert re.search(r"\n….* The zebra was here\. .*…\n", text)
    assert re.search(rf"\n\[Cut: lines=2 of {handle}[^\n]*\]$", text)
    assert recall(held, handle, lines="2").text == line


def test_a_long_line_of_which_all_is_there_is_not_cut():
    line = f"{LONG[:330]} zebra"
    held, handle = output(line)

    assert ask(held, "zebra sentence weather") == f"[{handle} result bash run]\n{line}"


# --- where it is asked ------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["query", "grep"])
def test_a_session_and_a_compaction_keep_what_matches_in_small_answers(way):
    history = [
        {"role": "user", "content": "Run the build."},
        call("c1", "bash", command="make"),
        result("c1", BUILD),
        {"role": "assistant", "content": "It failed."},
        {"role": "user", "content": "Go on."},
    ]
    made = compact(history, budget=200)
    snapshot = next(h for h, words in made.receipt.recall.items() if "snapshot" in words)
    store = MemoryStore()
    with Session.open(None, "s", store=store, window=9_000, format="openai-chat") as session:
        number = [session.append(message) for message in history][2]
        asked = {way: "QueueWorker", "max_tokens": 40}
        found = [made.recall(snapshot, **asked), session.recall(number, **asked)]

    assert all("unit 201 FAILED in QueueWorker" in one.text for one in found)
