from __future__ import annotations

import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.relevance.language import CHINESE as CHINESE_LANGUAGE
from foldline.relevance.language import JAPANESE, RUSSIAN
from foldline.snapshot.file_operations import CHANGES
from foldline.snapshot.format import header
from foldline.snapshot.phrases import (
    CHINESE,
    ENGLISH,
    TABLES,
    TITLES,
    operation,
    phrases_for,
    phrases_of,
    plan_row,
    request_row,
)
from foldline.values.snapshot_mark import SNAPSHOT_HEADERS


def test_every_header_of_a_snapshot_has_its_table():
    assert tuple(table.header for table in TABLES) == SNAPSHOT_HEADERS


@pytest.mark.parametrize("table", TABLES, ids=["en", "zh"])
def test_a_table_has_every_section_speaker_and_operation_under_a_name_of_its_own(table):
    assert tuple(table.titles) == TITLES
    assert tuple(table.marks) == tuple(ENGLISH.marks)
    assert tuple(table.operations) == CHANGES
    for words in (table.titles, table.marks, table.operations):
        assert len(set(words.values())) == len(words)


@pytest.mark.parametrize("table", TABLES, ids=["en", "zh"])
def test_no_mark_of_a_speaker_begins_with_another(table):
    marks = list(table.marks.values())
    assert not [(a, b) for a in marks for b in marks if a != b and a.startswith(b)]


def test_a_phrase_has_the_same_numbers_in_every_language():
    for field in fields(ENGLISH):
        english, chinese = getattr(ENGLISH, field.name), getattr(CHINESE, field.name)
        if isinstance(english, str):
            names = r"\{\w+\}"
            assert sorted(re.findall(names, english)) == sorted(re.findall(names, chinese))


def test_the_chinese_table_is_in_chinese():
    phrases = [
        value for name in CHINESE.__slots__ if isinstance(value := getattr(CHINESE, name), str)
    ]
    words = [*CHINESE.titles.values(), *CHINESE.operations.values(), *phrases]
    assert all(re.search("[\u4e00-\u9fff]", text) for text in words)


IDS = ["en", "zh"]
OUTCOMES = ("working", "silent", "answered", "unanswered", "left")


@pytest.mark.requirement("F39")
def test_only_a_chinese_conversation_gets_chinese_phrases():
    assert phrases_for(CHINESE_LANGUAGE) is CHINESE
    assert [phrases_for(other) for other in (None, JAPANESE, RUSSIAN)] == [ENGLISH] * 3


@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_the_first_line_tells_the_phrases_of_a_snapshot(table):
    assert phrases_of(header(1, 2, "ab" * 16, table)) is table


@given(st.text(max_size=40))
def test_any_other_text_is_read_in_english(text):
    assert phrases_of(f" {text}") is ENGLISH


def row(table, name, beside="", answer=""):
    said = answer if name in ("working", "answered", "left") else ""
    return f"1f0c2a “修复构建 now”{beside}{getattr(table, name)}{said}"


@pytest.mark.parametrize("name", OUTCOMES)
@pytest.mark.parametrize("into", TABLES, ids=IDS)
@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_the_row_of_the_latest_request_is_the_same_in_other_words(table, into, name):
    old = row(table, name, table.beside, "a.py: done")
    new = row(into, name, into.beside, "a.py: done")
    assert request_row(old, into, is_latest=True) == new


@pytest.mark.parametrize("into", TABLES, ids=IDS)
@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_an_earlier_request_is_no_longer_in_work(table, into):
    for name, then in (("working", "left"), ("silent", "unanswered")):
        old = row(table, name, table.beside, "done")
        assert request_row(old, into, is_latest=False) == row(into, then, answer="done")


@pytest.mark.parametrize("into", TABLES, ids=IDS)
@pytest.mark.parametrize("table", TABLES, ids=IDS)
def test_the_steps_of_a_plan_are_counted_in_other_words(table, into):
    def steps(words):
        counted = words.steps.replace("{done}", "2").replace("{all}", "13")
        return f"4f0c2a {counted}\n - [pending] 2 of 3 steps done"

    assert plan_row(steps(table), into) == steps(into)


@pytest.mark.parametrize("text", ["", "4f0c2a - [done] look", "4f0c2a 2 of 3 steps done, says he"])
def test_another_row_of_a_plan_stays_as_it_is(text):
    assert [plan_row(text, into) for into in TABLES] == [text, text]


@pytest.mark.parametrize("into", TABLES, ids=IDS)
@pytest.mark.parametrize("table", TABLES, ids=IDS)
@pytest.mark.parametrize("name", list(ENGLISH.operations))
def test_what_was_done_to_a_file_is_the_same_in_other_words(name, table, into):
    assert operation(f"{table.operations[name]} ×3", into) == f"{into.operations[name]} ×3"
    assert operation(table.operations[name], into) == into.operations[name]


def test_what_is_no_operation_stays():
    assert [operation(text, CHINESE) for text in ("", "renamed ×2", "×")] == [
        "",
        "renamed ×2",
        "×",
    ]
