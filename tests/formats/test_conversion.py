from __future__ import annotations

from collections.abc import Sequence

from foldline.formats.conversion import flat_text, legal_id, with_legal_ids
from foldline.values.groups import Site
from foldline.values.identity import identify
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def call(*numbers: str | None, dialect: str = "x") -> Message:
    parts = tuple(ToolCall(number, "f", "{}") for number in numbers)
    return Message("assistant", parts, raw={}, dialect=dialect)


def result(number: str | None, dialect: str = "x") -> Message:
    return Message("tool", (ToolResult(number, (), "f"),), raw={}, dialect=dialect)


def wire_ids(messages: Sequence[Message], dialect: str) -> dict[Site, str | None]:
    """Return the ids of all calls and results by site."""
    return {
        Site(index, position): part.id if isinstance(part, ToolCall) else part.call_id
        for index, message in enumerate(with_legal_ids(messages, dialect))
        for position, part in enumerate(message.parts)
        if isinstance(part, (ToolCall, ToolResult))
    }


def test_ids_of_the_dialect_itself_are_kept() -> None:
    messages = [call("a:b", dialect="own"), result("a:b", "own")]
    assert with_legal_ids(messages, "own") is messages


def test_an_illegal_id_is_replaced_in_the_call_and_its_result() -> None:
    numbers = wire_ids([call("functions.f:0"), result("functions.f:0")], "own")
    assert numbers == {Site(0, 0): "functions_f_0", Site(1, 0): "functions_f_0"}


def test_a_repeated_id_is_replaced_in_the_later_pair() -> None:
    messages = identify([call("a"), result("a"), call("a"), result("a")])
    numbers = wire_ids(messages, "own")
    assert numbers[Site(0, 0)] == numbers[Site(1, 0)] == "a"
    assert numbers[Site(2, 0)] == numbers[Site(3, 0)] != "a"


def test_generated_ids_do_not_depend_on_the_position_of_a_call() -> None:
    messages = identify([call(None, None), result(None), result(None)])
    numbers = wire_ids(messages, "own")
    assert numbers[Site(0, 0)] == numbers[Site(1, 0)] != numbers[Site(0, 1)]
    later = wire_ids([result("z"), *messages], "own")
    assert later[Site(1, 0)] == numbers[Site(0, 0)]


def test_a_new_result_takes_the_id_of_its_call() -> None:
    messages = [call("a:b", dialect="own"), result("a:b", dialect="")]
    assert wire_ids(messages, "own")[Site(1, 0)] == "a:b"


def test_an_orphan_keeps_its_id_or_gets_one() -> None:
    assert wire_ids([result("lost"), result(None)], "own")[Site(0, 0)] == "lost"
    assert wire_ids([result("lost"), result(None)], "own")[Site(1, 0)]


def test_long_ids_are_shortened_and_stay_different() -> None:
    first, second = legal_id("a" * 100), legal_id("a" * 101)
    assert len(first) <= 64
    assert first != second
    assert legal_id("call_1-2") == "call_1-2"


def test_parts_become_readable_text() -> None:
    parts = [
        Thinking("hidden"),
        Text("one"),
        Media("image", "image/png"),
        Media("audio"),
        Opaque("search", "two"),
        Opaque("compaction"),
        ToolCall("c", "f", "{}"),
        Omitted("clear"),
    ]
    assert flat_text(parts) == "one\n[image image/png]\n[audio]\ntwo\n[compaction]"
    assert flat_text([]) == ""
