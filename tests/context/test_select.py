from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.packets import ContextPacket
from foldline.context.places import place_of
from foldline.context.scoring import Scored
from foldline.context.select import Selection, select
from foldline.context.settings import ContextConfig
from foldline.relevance.terms import terms


def offer(text: str, tokens: int, score: float, **metadata: str) -> Scored:
    packet = ContextPacket(text, metadata=metadata)
    words = frozenset(terms(text))
    return Scored(packet, place_of(packet), tokens, words, score, None, score, {"given": score})


def names(selection: Selection) -> list[str]:
    return [choice.scored.packet.content for choice in selection.chosen]


def reasons(selection: Selection) -> dict[str, str]:
    return {left.packet.content: left.reason for left in selection.left_out}


WHOLE = ContextConfig(enable_compression=False)


@pytest.mark.requirement("T3")
def test_what_does_not_fit_is_skipped_and_the_next_is_tried():
    chosen = select(
        [offer("alpha", 60, 0.9), offer("beta", 70, 0.8), offer("gamma", 30, 0.7)], 100, WHOLE
    )
    assert names(chosen) == ["alpha", "gamma"]
    assert reasons(chosen) == {"beta": "room"}


@pytest.mark.requirement("T3")
def test_what_is_below_the_threshold_stays_out_and_says_so():
    chosen = select([offer("alpha", 10, 0.09), offer("beta", 10, 0.1)], 100, WHOLE)
    assert names(chosen) == ["beta"]
    assert reasons(chosen) == {"alpha": "relevance"}


@pytest.mark.requirement("T3")
def test_what_says_the_same_is_left_for_what_says_something_else():
    first = offer("the billing port is 8443", 10, 0.9)
    again = offer("The billing port is 8443!", 10, 0.89)
    other = offer("the owner is Ann", 10, 0.5)
    chosen = select([first, again, other], 100, WHOLE)
    assert names(chosen) == ["the billing port is 8443", "the owner is Ann"]
    assert reasons(chosen) == {"The billing port is 8443!": "repeats"}
    assert chosen.left_out[0].other == "the billing port is 8443"


@pytest.mark.requirement("T3")
def test_diversity_prefers_what_is_different_among_equals():
    alike = [offer("billing port alpha beta", 10, 0.9), offer("billing port alpha gamma", 10, 0.8)]
    other = offer("owner is Ann", 10, 0.75)
    assert names(select([*alike, other], 20, WHOLE))[1] == "owner is Ann"
    straight = ContextConfig(enable_compression=False, diversity=1.0)
    assert names(select([*alike, other], 20, straight))[1] == "billing port alpha gamma"


def test_the_question_that_is_asked_again_in_the_history_is_left_out():
    chosen = select([offer("user: Which port?", 5, 0.9)], 100, WHOLE, "Which port?")
    assert names(chosen) == []
    assert chosen.left_out[0].other == "the task"


@pytest.mark.requirement("T5")
def test_a_section_takes_no_more_than_its_budget():
    config = ContextConfig(enable_compression=False, section_budgets={"evidence": 0.3})
    offered = [offer(f"fact {n} {n * 7}", 20, 0.9, type="knowledge") for n in range(5)]
    chosen = select([*offered, offer("said", 20, 0.2)], 100, config)
    assert names(chosen) == ["fact 0 0", "said"]
    assert set(reasons(chosen).values()) == {"section"}


def test_a_giant_is_bounded_to_its_share_and_gets_what_is_left_over():
    giant, small = offer("giant alpha", 1_000, 0.9), offer("small beta", 100, 0.8)
    config = ContextConfig(largest_share=0.5)
    crowded = select([giant, *(offer(f"{n} x{n}", 100, 0.8) for n in range(9))], 600, config)
    assert [choice.room for choice in crowded.chosen] == [300, 100, 100, 100]
    alone = select([giant, small], 600, config)
    assert [choice.room for choice in alone.chosen] == [500, 100]


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(0, 1)), max_size=30),
    st.integers(0, 800),
    st.booleans(),
)
def test_the_room_is_never_exceeded_and_every_packet_is_accounted_for(
    sizes: list[tuple[int, float]], room: int, compressing: bool
):
    offered = [
        offer(f"word{n} other{n}", tokens, score) for n, (tokens, score) in enumerate(sizes)
    ]
    config = ContextConfig(
        enable_compression=compressing, section_budgets={"context": 0.8}, largest_share=0.4
    )
    chosen = select(offered, room, config)
    assert sum(choice.room for choice in chosen.chosen) <= 0.8 * room
    assert len(chosen.chosen) + len(chosen.left_out) == len(offered)
    assert all(0 < choice.room <= choice.scored.tokens for choice in chosen.chosen)
    assert select(offered, room, config) == chosen


def test_thousands_of_packets_are_chosen_from():
    dice = random.Random(1)  # noqa: S311  # no secret
    offered: list[Any] = [offer(f"note {n}", 10, dice.random()) for n in range(3_000)]
    assert len(select(offered, 1_000, WHOLE).chosen) == 100
