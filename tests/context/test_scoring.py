from __future__ import annotations

import pytest

from foldline.context.packets import ContextPacket
from foldline.context.scoring import Scored, recency, relevances, scored
from foldline.context.settings import ContextConfig
from foldline.context.sources import history

DAY = 86_400.0
NOW = 1_760_000_000.0


def judged(query: str, *packets: ContextPacket, **settings: float) -> list[Scored]:
    costs = [10] * len(packets)
    return scored(query, packets, costs, ContextConfig(**settings), now=NOW)  # type: ignore[arg-type]


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
    one, other = relevances(query, [ContextPacket(right), ContextPacket(wrong)])
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


def test_words_that_stand_together_count_more_than_scattered_ones():
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


def test_what_has_no_time_is_judged_by_relevance_alone():
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


def test_what_a_search_found_is_taken_even_where_its_words_are_others():
    ranked = ContextPacket("用户喜欢拿铁", metadata={"rank": 0})
    (one, two) = judged("beverage", ranked, ContextPacket("用户喜欢拿铁"))
    assert (one.relevance, two.relevance) == (0.4, 0.0)


def test_no_packets_and_a_query_without_words_are_no_trouble():
    assert judged("anything") == []
    assert judged("?!", ContextPacket("text"))[0].relevance == 0.0
