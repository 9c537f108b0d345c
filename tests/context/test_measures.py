from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.measures import completeness, density, query_words, redundancy, relevance
from foldline.context.packets import ContextPacket
from foldline.context.structure import ContextItem


def item(text: str, tokens: int = 10, worth: float = 0.5, name: str = "") -> ContextItem:
    return ContextItem(
        ContextPacket(text, metadata={"title": name}), text, tokens, tokens, relevance=worth
    )


@pytest.mark.requirement("E2.2")
def test_relevance_weighs_by_tokens_and_names_the_least_relevant_packets():
    found = relevance([item("a", 300, 0.1, "minutes"), item("b", 100, 0.9, "port")])
    assert found.value == pytest.approx(0.3)
    assert [(f.name, f.tokens) for f in found.findings] == [("minutes", 300)]


@pytest.mark.requirement("E2.2")
def test_density_falls_with_every_repeated_line():
    rich = density([item("the port is 8443\nthe owner is Ann\nit runs in Oslo")])
    poor = density(
        [item("the port is 8443\nthe port is 8443\n\n---\nport is the 8443", name="log")]
    )
    assert rich.value == 1.0
    assert poor.value < 0.5
    assert poor.findings[0].name == "log"


@pytest.mark.requirement("E2.2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the billing port is 8443", "The billing port is 8443."),
        ("用户喜欢喝咖啡,不加糖", "用户喜欢喝咖啡,不加糖。"),
    ],
)
def test_redundancy_names_both_packets(one: str, other: str):
    found = redundancy(
        [item(one, name="first"), item("something else"), item(other, name="again")]
    )
    assert found.value == pytest.approx(1 / 3)
    assert [(f.name, f.other) for f in found.findings] == [("again", "first")]


def test_no_items_measure_zero():
    assert (relevance([]).value, density([]).value, redundancy([]).value) == (0.0, 0.0, 0.0)


@given(st.lists(st.tuples(st.text(max_size=80), st.integers(0, 500), st.floats(0, 1)), max_size=8))
def test_every_measure_is_a_fraction(packets: list[tuple[str, int, float]]):
    items = [item(*packet) for packet in packets]
    for measure in (relevance, density, redundancy):
        assert 0.0 <= measure(items).value <= 1.0 + 1e-9


def part(text: str, whole: str = "") -> ContextItem:
    return ContextItem(ContextPacket(whole or text), text, 5, 50 if whole else 5)


@pytest.mark.requirement("E2.2")
def test_missing_words_are_named_with_the_packet_that_has_them():
    found = completeness(
        "Which port and which owner has billing?",
        [part("the billing port is 8443")],
        [ContextPacket("the owner is Ann", metadata={"title": "people"})],
    )
    assert 0.3 < found.value < 0.9
    assert [(f.name, f.other) for f in found.findings] == [("owner", "people")]


@pytest.mark.requirement("E2.2")
def test_missing_chinese_words_are_named_as_in_the_question():
    found = completeness("如何优化Pandas的内存占用?", [part("Pandas的内存优化策略")], [])
    assert [f.name for f in found.findings] == ["占用"]
    assert completeness("内存占用", [part("减少内存占用")], []).value == 1.0


def test_a_shortened_packet_is_distinguished_from_one_left_out():
    found = completeness("owner", [part("port", whole="port and owner")], [])
    assert (found.findings[0].other, found.findings[0].tokens) == ("port and owner", 50)


def test_names_are_found_whole_and_in_parts():
    assert completeness("getUserName", [part("def get_user_name(): ...")], []).value == 1.0
    assert completeness("getUserName", [part("user")], []).value == 0.0


def test_function_words_need_not_be_covered():
    assert query_words("What is the of?") == []
    assert completeness("what is the", [], []).value == 1.0


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_recall_is_a_fraction_for_any_text(query: str, texts: list[str]):
    found = completeness(
        query, [part(t) for t in texts[:2]], [ContextPacket(t) for t in texts[2:]]
    )
    assert 0.0 <= found.value <= 1.0 + 1e-9
    missing = sum(finding.value for finding in found.findings)
    assert found.value + missing == pytest.approx(1.0)
