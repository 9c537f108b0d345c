from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.growth import grows_linearly, repeated

from foldline.context import compression
from foldline.context.compression import (
    Kind,
    choose_method,
    compress,
    kind_of,
)
from foldline.context.packets import ContextPacket
from foldline.context.selection import PacketChoice, ScoredPacket
from foldline.context.settings import WORDS
from foldline.context.shorten import Shortening, fingerprint
from foldline.context.structure import ContextItem
from foldline.core.asks import Ask, ModelLimits, Reply, drive
from foldline.relevance.terms import terms
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.requirement("E2.3", "T5")
@pytest.mark.parametrize(
    ("kind", "tokens", "room", "flags", "method"),
    [
        ("prose", 100, 100, {}, "keep"),
        ("prose", 5_000, 500, {"repeated": True, "model": True}, "repeat"),
        ("code", 5_000, 30, {}, "truncate"),
        ("conversation", 5_000, 500, {"matches_query": False}, "window"),
        ("conversation", 5_000, 500, {"model": True}, "mixed"),
        ("prose", 1_000, 950, {"model": True}, "truncate"),
        ("log", 5_000, 500, {"model": True}, "excerpt"),
        ("data", 5_000, 500, {"matches_query": False}, "mixed"),
        ("prose", 5_000, 500, {"model": True}, "summary"),
        ("prose", 700, 200, {"model": True}, "excerpt"),
        ("prose", 5_000, 4_000, {"model": True}, "excerpt"),
        ("prose", 5_000, 500, {}, "excerpt"),
        ("prose", 5_000, 500, {"matches_query": False}, "truncate"),
    ],
)
def test_the_first_matching_row_decides(kind, tokens, room, flags, method):
    assert choose_method(kind, tokens, room, **flags).method == method


@pytest.mark.requirement("E2.3")
def test_only_prose_is_ever_paraphrased():
    for kind in get_args(Kind):
        for room in range(0, 6_000, 37):
            if choose_method(kind, 5_000, room, model=True).method == "summary":
                assert kind == "prose"


@pytest.mark.requirement("E2.3")
def test_the_table_of_the_documentation_is_that_of_the_module():
    table = [line for line in (compression.__doc__ or "").splitlines() if line.startswith("|")]
    page = (ROOT / "docs" / "context.md").read_text(encoding="utf-8")
    assert len(table) > 8
    assert "\n".join(table) in page


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("conversation", "user: hi\nassistant: hello\nuser: and now?"),
        ("conversation", "用户: 你好\n助手: 您好\n用户: 谢谢"),
        ("log", "2025-01-01 10:00:00 start\n2025-01-01 10:00:01 stop\nERROR it broke\n"),
        ("code", "import os\n\ndef main():\n    return os.getcwd()\n"),
        ("data", "\n".join(json.dumps({"row": n, "value": n}) for n in range(5))),
        ("data", "a,b,c,d\n1,2,3,4\n5,6,7,8\n"),
        ("prose", "The team met on Monday. Nothing was decided.\nIt rained.\nThey left."),
        ("prose", "会议在周一举行。没有做出决定。\n下雨了。\n他们离开了。"),
        ("prose", ""),
    ],
)
def test_the_kind_of_a_text_is_detected_by_its_lines(kind: str, text: str):
    assert kind_of(ContextPacket(text)) == kind


@pytest.mark.parametrize("piece", ["\n", " ", "\t", " \n", '"', "a|"])
def test_detecting_the_kind_of_a_text_takes_linear_time(piece: str):
    assert grows_linearly(
        lambda text: kind_of(ContextPacket(text)), repeated(piece), 2_000, 16_000
    )


def test_the_type_of_a_packet_determines_its_kind_if_set():
    assert kind_of(ContextPacket("plain words", metadata={"type": "log"})) == "log"


COUNTER = TokenCounter(EstimatedCounter())
PROSE = " ".join(
    f"On day {n} the team spoke about the harbour and the weather." for n in range(200)
)


def choice(text: str, room: int, query: str, **metadata: Any) -> PacketChoice:
    packet = ContextPacket(text, metadata=metadata)
    matched = tuple(set(terms(text)) & set(terms(query)))
    tokens = COUNTER.text(text) + 3
    one = ScoredPacket(packet, "context", tokens, frozenset(), 0.5, None, 0.5, {}, matched)
    return PacketChoice(one, room)


def done(
    text: str, room: int, query: str = "harbour", reply: Reply | None = None, **how: Any
) -> tuple[ContextItem, list[Ask]]:
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
def test_an_available_model_summarizes_long_prose():
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
def test_a_form_sent_before_is_sent_again_byte_for_byte():
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
