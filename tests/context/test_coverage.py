from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.coverage import completeness, words
from foldline.context.packets import ContextPacket
from foldline.context.structure import Item


def item(text: str, whole: str = "") -> Item:
    return Item(ContextPacket(whole or text), text, 5, 50 if whole else 5)


@pytest.mark.requirement("E2.2")
def test_what_is_not_spoken_of_is_named_with_who_speaks_of_it():
    found = completeness(
        "Which port and which owner has billing?",
        [item("the billing port is 8443")],
        [ContextPacket("the owner is Ann", metadata={"title": "people"})],
    )
    assert 0.3 < found.value < 0.9
    assert [(f.name, f.other) for f in found.findings] == [("owner", "people")]


@pytest.mark.requirement("E2.2")
def test_chinese_words_are_named_as_they_stand_in_the_question():
    found = completeness("如何优化Pandas的内存占用?", [item("Pandas的内存优化策略")], [])
    assert [f.name for f in found.findings] == ["占用"]
    assert completeness("内存占用", [item("减少内存占用")], []).value == 1.0


def test_what_was_cut_away_is_told_from_what_was_left_out():
    found = completeness("owner", [item("port", whole="port and owner")], [])
    assert (found.findings[0].other, found.findings[0].tokens) == ("port and owner", 50)


def test_names_are_found_whole_and_in_parts():
    assert completeness("getUserName", [item("def get_user_name(): ...")], []).value == 1.0
    assert completeness("getUserName", [item("user")], []).value == 0.0


def test_words_of_grammar_are_not_asked_for():
    assert words("What is the of?") == []
    assert completeness("what is the", [], []).value == 1.0


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_it_is_a_fraction_of_any_text(query: str, texts: list[str]):
    found = completeness(
        query, [item(t) for t in texts[:2]], [ContextPacket(t) for t in texts[2:]]
    )
    assert 0.0 <= found.value <= 1.0 + 1e-9
    missing = sum(finding.value for finding in found.findings)
    assert found.value + missing == pytest.approx(1.0)
