from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.packets import ContextPacket
from foldline.context.selection import (
    PacketSelection,
    ScoredPacket,
    judge_relevance,
    recency,
    score_packets,
    select,
)
from foldline.context.settings import ContextConfig, section_of
from foldline.context.sources import history
from foldline.relevance.terms import terms

DAY = 86_400.0
NOW = 1_760_000_000.0


def judged(query: str, *packets: ContextPacket, **settings: float) -> list[ScoredPacket]:
    costs = [10] * len(packets)
    return score_packets(query, packets, costs, ContextConfig(**settings), now=NOW)  # type: ignore[arg-type]


@pytest.mark.requirement("T3")
@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("咖啡偏好", "用户喜欢喝咖啡,不加糖", "明天下午三点开会"),
        ("如何优化Pandas的内存占用?", "使用category类型减少内存占用", "会议改到周五"),
        ("which port does billing use", "The billing service listens on port 8443", "Lunch at 12"),
        ("getUserName fails", "def get_user_name(): raise KeyError", "the weather is fine"),
    ],
)
def test_relevance_is_found_in_english_chinese_and_code(query: str, right: str, wrong: str):
    one, other = judge_relevance(query, [ContextPacket(right), ContextPacket(wrong)])
    assert one.relevance > 0.2 > other.relevance
    assert one.matched


@pytest.mark.requirement("T3")
def test_a_relevance_that_the_caller_set_is_respected():
    (one,) = judged("port", ContextPacket("no such word", relevance_score=0.5))
    assert (one.relevance, dict(one.parts)) == (0.5, {"given": 0.5})


def test_the_parts_of_a_relevance_add_up_to_it():
    (one,) = judged("billing port", ContextPacket("the billing port is 1"))
    assert set(one.parts) == {"found", "lead", "together"}
    assert one.relevance == pytest.approx(sum(one.parts.values()))


def test_words_close_together_count_more_than_scattered_ones():
    together = ContextPacket("Lunch was late.\nThe billing port is 8443.\nIt rained.")
    scattered = ContextPacket("The billing is late.\nIt rained in the port.\nLunch at noon.")
    one, other = judged("billing port", together, scattered)
    assert one.relevance > other.relevance


@pytest.mark.requirement("T3")
def test_recency_falls_with_age_and_never_below_a_tenth():
    assert recency(NOW, NOW, 0.1) == 1.0
    assert recency(NOW + DAY, NOW, 0.1) == 1.0
    assert recency(NOW - DAY, NOW, 0.1) == pytest.approx(0.904837, abs=1e-6)
    assert recency(0.0, NOW, 0.1) == 0.1
    assert recency(None, NOW, 0.1) is None


def test_weights_decide_between_relevant_and_new():
    old = ContextPacket("x", NOW - 30 * DAY, relevance_score=0.9)
    new = ContextPacket("y", NOW, relevance_score=0.4)
    one, other = judged("q", old, new)
    assert one.score > other.score
    one, other = judged("q", old, new, recency_weight=0.9, relevance_weight=0.1)
    assert one.score < other.score


def test_a_packet_without_a_time_is_scored_by_relevance_alone():
    (one,) = judged("q", ContextPacket("x", relevance_score=0.8))
    assert one.score == 0.8


@pytest.mark.requirement("T2", "T3")
def test_the_newest_messages_are_relevant_and_an_old_one_that_answers_comes_back():
    said = [{"role": "user", "content": f"smalltalk number {n}"} for n in range(20)]
    said[2] = {"role": "user", "content": "the deploy key is named heron-48113"}
    found = judged("What is the name of the deploy key?", *history(said))
    assert all(one.relevance >= 0.6 for one in found[-5:])
    assert found[2].relevance > 0.5
    assert found[10].relevance < 0.1


def test_search_results_are_chosen_even_with_other_words():
    ranked = ContextPacket("用户喜欢拿铁", metadata={"rank": 0})
    (one, two) = judged("beverage", ranked, ContextPacket("用户喜欢拿铁"))
    assert (one.relevance, two.relevance) == (0.4, 0.0)


def test_no_packets_and_a_query_without_words_are_accepted():
    assert judged("anything") == []
    assert judged("?!", ContextPacket("text"))[0].relevance == 0.0


def offer(text: str, tokens: int, score: float, **metadata: str) -> ScoredPacket:
    packet = ContextPacket(text, metadata=metadata)
    words = frozenset(terms(text))
    return ScoredPacket(
        packet, section_of(packet), tokens, words, score, None, score, {"given": score}
    )


def names(selection: PacketSelection) -> list[str]:
    return [choice.scored.packet.content for choice in selection.chosen]


def reasons(selection: PacketSelection) -> dict[str, str]:
    return {left.packet.content: left.reason for left in selection.left_out}


WHOLE = ContextConfig(enable_compression=False)


@pytest.mark.requirement("T3")
def test_a_packet_that_does_not_fit_is_skipped_and_the_next_is_tried():
    chosen = select(
        [offer("alpha", 60, 0.9), offer("beta", 70, 0.8), offer("gamma", 30, 0.7)], 100, WHOLE
    )
    assert names(chosen) == ["alpha", "gamma"]
    assert reasons(chosen) == {"beta": "room"}


@pytest.mark.requirement("T3")
def test_a_packet_below_the_threshold_is_left_out_with_the_reason():
    chosen = select([offer("alpha", 10, 0.09), offer("beta", 10, 0.1)], 100, WHOLE)
    assert names(chosen) == ["beta"]
    assert reasons(chosen) == {"alpha": "relevance"}


@pytest.mark.requirement("T3")
def test_a_duplicate_gives_way_to_new_information():
    first = offer("the billing port is 8443", 10, 0.9)
    again = offer("The billing port is 8443!", 10, 0.89)
    other = offer("the owner is Ann", 10, 0.5)
    chosen = select([first, again, other], 100, WHOLE)
    assert names(chosen) == ["the billing port is 8443", "the owner is Ann"]
    assert reasons(chosen) == {"The billing port is 8443!": "repeats"}
    assert chosen.left_out[0].other == "the billing port is 8443"


@pytest.mark.requirement("T3")
def test_diversity_prefers_distinct_packets_among_equals():
    alike = [offer("billing port alpha beta", 10, 0.9), offer("billing port alpha gamma", 10, 0.8)]
    other = offer("owner is Ann", 10, 0.75)
    assert names(select([*alike, other], 20, WHOLE))[1] == "owner is Ann"
    straight = ContextConfig(enable_compression=False, diversity=1.0)
    assert names(select([*alike, other], 20, straight))[1] == "billing port alpha gamma"


def test_a_repetition_of_the_question_in_the_history_is_left_out():
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


def test_a_giant_packet_is_limited_to_its_share_plus_the_leftover_room():
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
