from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.corpus import corpus_files, requires_corpus
from tests.formats.transcripts.editing import (
    assert_edits_survive,
    assert_identity,
    edited,
    messages_of,
    read,
    source_of,
    visible,
)

from foldline.errors import InputError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.formats.source import TranscriptSource
from foldline.formats.transcripts.openhands import OpenHands
from foldline.values.edits import Drop, Fold, Insert, Rewrite, apply
from foldline.values.groups import group
from foldline.values.messages import Message, Omitted, Text, Thinking, ToolCall, ToolResult

FORMAT = OpenHands()


def text(content: str) -> list[dict[str, Any]]:
    return [{"cache_prompt": False, "type": "text", "text": content}]


def event(kind: str, number: str, **fields: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": "2026", "source": "agent", **fields, "kind": kind}


def action(
    number: str, call: str, response: str, thought: str = "", **more: Any
) -> dict[str, Any]:
    return event(
        "ActionEvent",
        number,
        thought=text(thought) if thought else [],
        reasoning_content=None,
        thinking_blocks=[],
        **more,
        action={"command": "ls", "kind": "TerminalAction"},
        tool_name="terminal",
        tool_call_id=call,
        tool_call={"id": call, "name": "terminal", "arguments": '{"command": "ls"}'},
        llm_response_id=response,
    )


def observation(number: str, call: str, content: str) -> dict[str, Any]:
    seen_there = {"content": text(content), "is_error": False, "kind": "TerminalObservation"}
    fields = {"tool_name": "terminal", "tool_call_id": call, "observation": seen_there}
    return event("ObservationEvent", number, **fields, action_id="a")


def state(number: str) -> dict[str, Any]:
    return event("ConversationStateUpdateEvent", number, key="stats", value={})


def events() -> list[dict[str, Any]]:
    signed = [{"type": "thinking", "thinking": "Deep.", "signature": "c2ln"}]
    return [
        event("SystemPromptEvent", "e0", system_prompt=text("System.")[0], tools=[{"name": "t"}]),
        state("e1"),
        event(
            "MessageEvent",
            "e2",
            llm_message={"role": "user", "content": text("任务: mend it.")},
            extended_content=text("A hint."),
        ),
        action("e3", "c1", "r1", "Both at once."),
        state("e4"),
        action("e5", "c2", "r1"),
        observation("e6", "c2", "second"),
        event(
            "AgentErrorEvent", "e7", tool_name="terminal", tool_call_id="c1", error="no such tool"
        ),
        action("e8", "c3", "r2", "Then.") | {"thinking_blocks": signed},
        observation("e9", "c3", "third"),
        observation("e10", "lost", "a result whose call is not here"),
    ]


def condensed() -> list[dict[str, Any]]:
    told = {"forgotten_event_ids": ["e3", "e5", "e6", "e7"], "summary": "Looked around."}
    return [*events(), event("Condensation", "e11", **told, summary_offset=2), state("e12")]


def test_events_become_messages_and_parallel_actions_one_of_them() -> None:
    recording = assert_identity(FORMAT, source_of(events(), lines=True, ensure_ascii=False))
    messages = messages_of(recording)
    assert [m.role for m in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "assistant",
        "tool",
        "tool",
    ]
    assert messages[1].text == "任务: mend it.\nA hint."
    assert messages[2].parts == (
        Text("Both at once."),
        ToolCall("c1", "terminal", '{"command": "ls"}'),
        ToolCall("c2", "terminal", '{"command": "ls"}'),
    )
    assert messages[4].results[0].is_error
    assert messages[5].parts[0] == Thinking("Deep.", signed=True)
    groups = {g.members: g.state for g in group(messages)}
    assert groups[(2, 3, 4)] == "closed"
    assert groups[(7,)] == "broken"
    assert recording.conversations[0].transcript.tools == ({"name": "t"},)


def test_reasoning_that_the_visible_text_repeats_is_read_once() -> None:
    one = action("e1", "c1", "r1", "<think>Hm, so.</think>Look.") | {
        "reasoning_content": "Hm, so."
    }
    other = action("e2", "c2", "r2", "Look.") | {"reasoning_content": "Hm, so."}
    first, second = messages_of(FORMAT.decode(source_of([one, other], lines=True)))
    assert not any(isinstance(part, Thinking) for part in first.parts)
    assert second.parts[0] == Thinking("Hm, so.")


def test_edits_change_single_lines_and_keep_events_without_text() -> None:
    source = source_of(events(), lines=True, separators=(",", ":"))
    recording = FORMAT.decode(source)
    messages = messages_of(recording)
    edits = [
        Rewrite(messages[3].id, 0, "[cleared]", "clear"),
        Rewrite(messages[2].id, 2, '{"command": "cut"}', "clear"),
        Rewrite(messages[5].id, 0, None, "reasoning"),
        Drop((messages[7].id,), "window"),
    ]
    data, again = edited(FORMAT, recording, edits)
    before, after = source.data.splitlines(), data.splitlines()
    changed = [n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new]
    assert changed == [4, 5, 6, 8]  # the state update follows the message that it interrupted
    written = [json.loads(line) for line in after]
    assert [e["id"] for e in written] == [
        "e0",
        "e1",
        "e2",
        "e3",
        "e5",
        "e4",
        "e6",
        "e7",
        "e8",
        "e9",
    ]
    assert written[4]["tool_call"]["arguments"] == '{"command": "cut"}'
    assert written[4]["action"] is None
    assert written[6]["observation"]["content"] == [{"type": "text", "text": "[cleared]"}]
    assert written[8]["thinking_blocks"] == []
    assert not any(isinstance(p, Omitted) for m in messages_of(again) for p in m.parts)


def test_a_snapshot_and_a_missing_result_become_events() -> None:
    recording = FORMAT.decode(source_of(events(), lines=True))
    messages = messages_of(recording)
    lost = Message("tool", (ToolResult("c9", (Text("none"),), "terminal", True),), id="r" * 32)
    edits = [
        Fold(
            tuple(m.id for m in messages[2:5]), Message("user", (Text("Summary."),), id="s" * 32)
        ),
        Insert(messages[6].id, lost),
    ]
    data, again = edited(FORMAT, recording, edits)
    kinds = {json.loads(line)["id"]: json.loads(line)["kind"] for line in data.splitlines()}
    assert kinds["s" * 32] == "MessageEvent"
    assert kinds["r" * 32 + "-0"] == "AgentErrorEvent"
    assert messages_of(again)[2].text == "Summary."
    assert messages_of(again)[5].results[0] == lost.results[0]


def test_after_a_condensation_the_summary_replaces_the_forgotten_events() -> None:
    recording = assert_identity(FORMAT, source_of(condensed(), lines=True))
    messages = messages_of(recording)
    assert [m.text for m in messages[:4]] == [
        "System.",
        "任务: mend it.\nA hint.",
        "Looked around.",
        "Then.",
    ]
    assert messages[2].role == "user"


def test_a_condensation_keeps_its_position_when_messages_before_it_are_removed() -> None:
    recording = FORMAT.decode(source_of(condensed(), lines=True))
    messages = messages_of(recording)
    edits = [Drop((messages[0].id,), "window"), Rewrite(messages[2].id, 0, "Less.", "truncate")]
    data, again = edited(FORMAT, recording, edits)
    told = next(e for e in map(json.loads, data.splitlines()) if e["kind"] == "Condensation")
    assert (told["summary"], told["summary_offset"]) == ("Less.", 1)
    assert b"Both at once." in data  # forgotten, not lost
    assert [m.text for m in messages_of(again)[:2]] == ["任务: mend it.\nA hint.", "Less."]


def test_a_dropped_summary_does_not_come_back() -> None:
    recording = FORMAT.decode(source_of(condensed(), lines=True))
    gone = messages_of(recording)[2]
    _, again = edited(FORMAT, recording, [Drop((gone.id,), "window")])
    assert "Looked around." not in [m.text for m in messages_of(again)]


def twice_condensed() -> list[dict[str, Any]]:
    first = {
        "forgotten_event_ids": ["e3", "e5", "e6", "e7"],
        "summary": "One.",
        "summary_offset": 2,
    }
    again = {"forgotten_event_ids": ["e2"], "summary": "Two.", "summary_offset": 1}
    last = {"forgotten_event_ids": ["e12-summary"], "summary": "Three.", "summary_offset": 4}
    return [
        *events(),
        event("Condensation", "e11", **first),
        event("Condensation", "e12", **again),
        event("Condensation", "e13", **last),
    ]


def test_condensations_build_on_each_other() -> None:
    recording = FORMAT.decode(source_of(twice_condensed(), lines=True))
    assert [m.text for m in messages_of(recording)][:5] == [
        "System.",
        "One.",
        "Then.",
        "",
        "Three.",
    ]


def test_every_summary_keeps_its_place_when_something_else_changes() -> None:
    recording = FORMAT.decode(source_of(twice_condensed(), lines=True))
    messages = messages_of(recording)
    for edits in (
        [Rewrite(messages[2].id, 1, "Cut.", "truncate")],
        [Drop((messages[2].id, messages[3].id), "window")],
        [Drop((messages[1].id,), "window")],
    ):
        wanted = [m.text for m in apply(messages, edits)]
        assert [m.text for m in messages_of(edited(FORMAT, recording, edits)[1])] == wanted


def test_context_that_is_added_to_prompts_and_results_is_read() -> None:
    more = {"dynamic_context": text("Today.")[0]}, {"extended_content": text("A rule.")}
    start = events()
    lines = [start[0] | more[0], start[2], start[3], start[6] | more[1]]
    recording = assert_identity(FORMAT, source_of(lines, lines=True))
    messages = messages_of(recording)
    assert messages[0].text == "System.\nToday."
    assert messages[3].results[0].text == "second\nA rule."
    data, again = edited(FORMAT, recording, [Rewrite(messages[3].id, 0, "[cleared]", "clear")])
    assert messages_of(again)[3].results[0].text == "[cleared]"
    assert json.loads(data.splitlines()[3])["extended_content"] == []


def test_unreadable_lines_are_kept_and_reported() -> None:
    good = source_of(events()[:3], lines=True).data
    source = TranscriptSource.of(
        good + b"// note\n" + source_of(events()[8:10], lines=True).data + b'{"ki'
    )
    recording = assert_identity(FORMAT, source)
    assert len(recording.warnings) == 2
    call = messages_of(recording)[2]
    data, _ = edited(FORMAT, recording, [Rewrite(call.id, 1, "Cut.", "truncate")])
    assert b"\n// note\n" in data
    assert data.endswith(b'\n{"ki')


def test_parallel_actions_are_legal_on_another_wire() -> None:
    transcript = FORMAT.decode(source_of(events()[:10], lines=True)).conversations[0].transcript
    assert OpenAIChatDialect().validate(OpenAIChatDialect().encode(transcript)) == []


def test_a_malformed_event_is_named() -> None:
    broken = [*events()[:3], action("e3", "c1", "r1") | {"tool_call": {"id": 5, "name": "x"}}]
    with pytest.raises(InputError, match="line 4") as caught:
        FORMAT.decode(source_of(broken, lines=True))
    assert caught.value.field == "tool_call.id"


LOG = {
    "messages": [
        {"role": "system", "content": text("System.")},
        {"role": "user", "content": text("Do it.")},
        {"role": "assistant", "content": text("<function=terminal>\n<parameter=c>ls</parameter>")},
        {"role": "user", "content": text("EXECUTION RESULT of [terminal]:\na.py")},
    ],
    "tools": None,
    "raw_messages": [{"role": "tool", "content": "a copy"}],
    "response": {"choices": []},
    "cost": 1e-05,
}


def test_a_completion_log_is_its_request() -> None:
    source = source_of(LOG)
    recording = assert_identity(FORMAT, source)
    assert FORMAT.recognises(source) == 1.0
    messages = messages_of(recording)
    data, _ = edited(FORMAT, recording, [Rewrite(messages[3].id, 0, "[cleared]", "clear")])
    before, after = source.text.splitlines(), data.decode().splitlines()
    assert '"cost": 1e-05' in after[-2]
    assert sum("[cleared]" in line for line in after) == 1
    assert before[:22] == after[:22]


STEPS = [
    {
        "step": 0,
        "user_message": "Build it.",
        "agent": {"thought": "So.", "action": "Running command: ls"},
        "environment": "a.py",
        "step_usage": {"cost": 0.1},
    },
    {
        "step": 1,
        "user_message": None,
        "agent": {"thought": "Done.", "action": None},
        "environment": None,
        "step_usage": {},
    },
]


def test_a_devai_step_is_a_call_with_its_result() -> None:
    recording = assert_identity(FORMAT, source_of(STEPS, indent=4))
    messages = messages_of(recording)
    assert [m.role for m in messages] == ["user", "assistant", "tool", "assistant"]
    assert [g.members for g in group(messages)] == [(0,), (1, 2), (3,)]
    snapshot = Message("user", (Text("Summary."),), id="s")
    edits = [Rewrite(messages[2].id, 0, "[cleared]", "clear"), Fold((messages[0].id,), snapshot)]
    data, again = edited(FORMAT, recording, edits)
    first, second, third = json.loads(data)
    assert (first["user_message"], first["agent"]["action"]) == ("Summary.", None)
    assert second == STEPS[0] | {"user_message": None, "environment": "[cleared]"}
    assert third == STEPS[1]
    assert [role for role, _ in visible(messages_of(again))] == [m.role for m in messages]


@requires_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", corpus_files("openhands"), ids=lambda p: p.name)
def test_real_files_come_back_byte_for_byte_and_survive_edits(path: Path) -> None:
    source = read(path)
    assert FORMAT.recognises(source) == 1.0
    assert_identity(FORMAT, source)
    assert_edits_survive(FORMAT, source)
