from __future__ import annotations

import pytest
from tests.formats.responses_wire import PNG, call, edited, output, responses, text_item

from foldline.values.edits import Rewrite, apply
from foldline.values.messages import Message, Text, ToolCall, ToolResult


@pytest.mark.parametrize(
    ("item", "name", "arguments"),
    [
        ({"type": "custom_tool_call", "name": "js", "input": "1 + 1"}, "js", "1 + 1"),
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"]}},
            "local_shell",
            '{"type": "exec", "command": ["ls"]}',
        ),
        ({"type": "shell_call", "action": {"commands": ["ls"]}}, "shell", '{"commands": ["ls"]}'),
        (
            {"type": "apply_patch_call", "operation": {"type": "update_file", "diff": "+a"}},
            "apply_patch",
            '{"type": "update_file", "diff": "+a"}',
        ),
        (
            {"type": "computer_call", "actions": [{"type": "wait"}]},
            "computer",
            '[{"type": "wait"}]',
        ),
        ({"type": "tool_search_call", "arguments": {"q": "x"}}, "tool_search", '{"q": "x"}'),
    ],
)
def test_every_kind_of_call_is_paired(item: dict, name: str, arguments: str) -> None:
    message = responses.decode([{**item, "call_id": "c"}]).messages[0]
    assert message.calls == (ToolCall("c", name, arguments),)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"type": "custom_tool_call_output", "call_id": "c", "output": "x"}, "x"),
        ({"type": "local_shell_call_output", "id": "c", "output": "x"}, "x"),
        (
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "x", "stderr": "y", "outcome": {"type": "timeout"}}],
            },
            "x\ny",
        ),
        (
            {"type": "apply_patch_call_output", "call_id": "c", "status": "failed", "output": "x"},
            "x",
        ),
        (
            {"type": "tool_search_output", "call_id": "c", "tools": [{"name": "x"}]},
            '[{"name": "x"}]',
        ),
    ],
)
def test_every_kind_of_output_is_paired(item: dict, text: str) -> None:
    message = responses.decode([item]).messages[0]
    assert (message.role, message.results[0].call_id) == ("tool", "c")
    assert message.results[0].text == text
    assert responses.encode(responses.decode([item])) == [item]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "custom_tool_call", "name": "js", "input": "long"}, {"input": "cut"}),
        (
            {"type": "shell_call", "action": {"commands": ["long"], "timeout_ms": 5}},
            {"action": {"commands": ["cut"], "timeout_ms": 5}},
        ),
        (
            {"type": "apply_patch_call", "operation": {"type": "update_file", "diff": "long"}},
            {"operation": {"type": "update_file", "diff": "cut"}},
        ),
        ({"type": "computer_call", "action": {"type": "wait"}}, {"action": {"type": "wait"}}),
    ],
)
def test_changed_arguments_fit_the_shape_of_their_call(item: dict, expected: dict) -> None:
    wire = [{**item, "call_id": "c"}]
    assert edited(wire, (0, "cut")) == [{**wire[0], **expected}]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "local_shell_call_output", "id": "c", "output": "long"}, {"output": "cut"}),
        (
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [{"stdout": "long", "stderr": "", "outcome": {"type": "timeout"}}],
            },
            {"output": [{"stdout": "cut", "stderr": "", "outcome": {"type": "timeout"}}]},
        ),
        (
            {
                "type": "tool_search_output",
                "call_id": "c",
                "status": "x",
                "tools": [{"name": "f"}],
            },
            {"tools": [], "execution": "client"},
        ),
    ],
)
def test_changed_outputs_fit_the_shape_of_their_call(item: dict, expected: dict) -> None:
    assert edited([item], (0, "cut")) == [{**item, **expected}]


def test_a_cleared_screenshot_becomes_the_smallest_one() -> None:
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG * 99}"}
    item = {"type": "computer_call_output", "call_id": "c", "output": shot}
    written = edited([item], (0, "[cleared]"))[0]["output"]
    assert written["type"] == "computer_screenshot"
    assert len(written["image_url"]) < 200


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("function_call", output("c", "none recorded")),
        ("custom_tool_call", {**output("c", "none recorded"), "type": "custom_tool_call_output"}),
        (
            "apply_patch_call",
            {
                **output("c", "none recorded"),
                "type": "apply_patch_call_output",
                "status": "failed",
            },
        ),
    ],
)
def test_a_new_result_has_the_output_kind_of_its_call(kind: str, expected: dict) -> None:
    wire = [
        text_item("user", "go"),
        {**call("c"), "type": kind, "input": "x", "operation": {}},
        text_item("user", "and?"),
    ]
    messages = list(responses.decode(wire).messages)
    made = ToolResult("c", (Text("none recorded"),), is_error=True)
    messages.insert(2, Message("tool", (made,)))
    written = responses.messages(messages)
    assert written[2] == expected
    assert responses.validate(written) == []


def test_a_screenshot_kept_by_an_edit_is_unchanged() -> None:
    shot = {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PNG}"}
    item = {"type": "computer_call_output", "call_id": "c", "output": shot}
    messages = responses.decode([item]).messages
    edit = Rewrite(messages[0].id, 0, "cut", "truncate", keep_media=True)
    assert responses.messages(apply(messages, [edit])) == [item]
