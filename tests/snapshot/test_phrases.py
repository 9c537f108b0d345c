"""The tables of phrases: each is whole, and nothing in one can be taken for something else."""

import re
from dataclasses import fields

import pytest

from foldline.snapshot.facts import CHANGES
from foldline.snapshot.phrases import ENGLISH, TITLES
from foldline.snapshot.phrases_zh import CHINESE
from foldline.snapshot.phrasing import TABLES
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
