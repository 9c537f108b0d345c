from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.measures import density, redundancy, relevance
from foldline.context.packets import ContextPacket
from foldline.context.structure import Item


def item(text: str, tokens: int = 10, worth: float = 0.5, name: str = "") -> Item:
    return Item(
        ContextPacket(text, metadata={"title": name}), text, tokens, tokens, relevance=worth
    )


@pytest.mark.requirement("E2.2")
def test_relevance_weighs_by_tokens_and_names_what_pulls_it_down():
    found = relevance([item("a", 300, 0.1, "minutes"), item("b", 100, 0.9, "port")])
    assert found.value == pytest.approx(0.3)
    assert [(f.name, f.tokens) for f in found.findings] == [("minutes", 300)]


@pytest.mark.requirement("E2.2")
def test_density_falls_with_every_line_that_says_nothing_new():
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


def test_nothing_measures_nothing():
    assert (relevance([]).value, density([]).value, redundancy([]).value) == (0.0, 0.0, 0.0)


@given(st.lists(st.tuples(st.text(max_size=80), st.integers(0, 500), st.floats(0, 1)), max_size=8))
def test_every_measure_is_a_fraction(packets: list[tuple[str, int, float]]):
    items = [item(*packet) for packet in packets]
    for measure in (relevance, density, redundancy):
        assert 0.0 <= measure(items).value <= 1.0 + 1e-9
