from __future__ import annotations

from typing import Any

import pytest

from foldline.context.compress import Shortening, compress, fingerprint
from foldline.context.packets import ContextPacket
from foldline.context.places import WORDS
from foldline.context.scoring import Scored
from foldline.context.select import Choice
from foldline.context.structure import Item
from foldline.core.asks import Ask, ModelLimits, Reply, drive
from foldline.relevance.terms import terms
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())
PROSE = " ".join(
    f"On day {n} the team spoke about the harbour and the weather." for n in range(200)
)


def choice(text: str, room: int, query: str, **metadata: Any) -> Choice:
    packet = ContextPacket(text, metadata=metadata)
    matched = tuple(set(terms(text)) & set(terms(query)))
    tokens = COUNTER.text(text) + 3
    one = Scored(packet, "context", tokens, frozenset(), 0.5, None, 0.5, {}, matched)
    return Choice(one, room)


def done(
    text: str, room: int, query: str = "harbour", reply: Reply | None = None, **how: Any
) -> tuple[Item, list[Ask]]:
    asked: list[Ask] = []

    def answer(ask: Ask) -> Reply:
        asked.append(ask)
        return reply or Reply(error="nobody is there")

    settings = Shortening(query, COUNTER, WORDS["en"], **how)
    return drive(compress(choice(text, room, query), settings), answer), asked


@pytest.mark.requirement("T5")
@pytest.mark.parametrize("room", [10, 50, 200, 1_000, 100_000])
def test_an_item_takes_no_more_than_its_room(room: int):
    item, asked = done(PROSE, room)
    assert item.tokens <= room
    assert item.whole == COUNTER.text(PROSE) + 3
    assert asked == []
    assert (item.method == "keep") == (item.text == PROSE)


@pytest.mark.requirement("E2.3", "T5")
def test_a_model_that_is_at_hand_shortens_long_prose():
    summary = "They spoke about the harbour."
    item, (ask,) = done(PROSE, 300, reply=Reply(summary), reader=ModelLimits(32_000))
    assert (item.text, item.method) == (summary, "summary")
    assert "<text>" in ask.prompt
    assert ask.max_tokens <= 300


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(error="the network is down"), "the network is down"),
        (Reply("   "), "empty"),
        (Reply("half an answ", stop="length"), "stopped early"),
        (Reply("word " * 2_000), "too long"),
        (Reply("It was decided in /etc/passwd_of_nobody."), "which the text does not"),
        (Reply("It took 4711 days."), "'4711'"),
    ],
)
def test_a_summary_that_fails_or_makes_things_up_is_not_used(reply: Reply, why: str):
    item, _ = done(PROSE, 300, reply=reply, reader=ModelLimits(32_000))
    assert item.method == "excerpt"
    assert why in item.note
    assert item.tokens <= 300


def test_a_text_that_the_model_cannot_read_whole_is_not_sent_to_it():
    item, asked = done(PROSE, 300, reader=ModelLimits(1_000))
    assert (item.method, asked) == ("excerpt", [])


@pytest.mark.requirement("E2.3")
def test_what_was_sent_before_is_sent_again_byte_for_byte():
    packet = ContextPacket(PROSE)
    former = {fingerprint(packet): "They spoke about the harbour."}
    item, asked = done(PROSE, 300, former=former, reader=ModelLimits(32_000))
    assert (item.text, item.method, asked) == ("They spoke about the harbour.", "repeat", [])
    too_small, _ = done(PROSE, 5, former=former)
    assert too_small.method != "repeat"
    other_question, _ = done(PROSE, 300, query="weather", former=former)
    assert other_question.method == "excerpt"
    assert "weather" in other_question.text


def test_a_fingerprint_is_of_the_text_alone():
    assert fingerprint(ContextPacket("a", 0)) == fingerprint(ContextPacket("a", metadata={"x": 1}))
    assert fingerprint(ContextPacket("a")) != fingerprint(ContextPacket("b"))
    assert len(fingerprint(ContextPacket("\ud800"))) == 32
