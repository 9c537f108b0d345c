import json

import pytest
from tests.neutral import COUNTER, c

import foldline
from foldline.snapshot.plans import (
    call_plan,
    fit_plan,
    is_done,
    is_plan_tool,
    only_sets_plan,
    plan_lines,
    short_plan_call,
    short_plan_text,
)

POLICIES = ["default", "salient", "clear", "keep_recent", "window"]
ITEMS = [
    {
        "id": f"todo-{n}",
        "content": f"Step {n}: write the reader of format {n} with tests and care",
        "status": "completed" if n < 5 else "in_progress" if n == 5 else "pending",
    }
    for n in range(25)
]
OPEN = [item for item in ITEMS if item["status"] != "completed"]
LISTED = "Task list:\n" + "\n".join(
    f"{n}. [{item['status']}] {item['id']} {item['content']}\n   notes " + "x " * 80
    for n, item in enumerate(ITEMS)
)


def size(text):
    return COUNTER.text(text)


def history(tool, arguments, result):
    def step(number, name, given, found):
        call = {"name": name, "arguments": json.dumps(given)}
        made = [{"id": number, "type": "function", "function": call}]
        return [
            {"role": "assistant", "content": None, "tool_calls": made},
            {"role": "tool", "tool_call_id": number, "content": found},
        ]

    def reads(start):
        return [
            message
            for n in range(start, start + 14)
            for message in step(f"c{n}", "read_file", {"path": f"f{n}.py"}, "some code\n" * 120)
        ]

    task = {"role": "user", "content": "Build the importer."}
    return [task, *reads(0), *step("p", tool, arguments, result), *reads(20)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("TodoWrite", {"todos": ITEMS}),
        ("task_tracker", {"command": "plan", "task_list": ITEMS}),
        ("mcp__planner__update_plan", {"plan": json.dumps(ITEMS)}),
    ],
)
def test_all_open_items_of_a_plan_stay_with_ids_and_status(tool, arguments, policy):
    messages = history(tool, arguments, LISTED)
    result = foldline.compact(messages, budget=2_500, policy=policy)
    sent = json.dumps(result.messages, ensure_ascii=False)
    assert result.receipt.status == "compacted"
    for item in OPEN:
        assert f"[{item['status']}] {item['id']}" in sent


@pytest.mark.parametrize("policy", POLICIES)
def test_a_plan_that_must_stay_is_never_cut_within_an_item(policy):
    call = c("p", "task_tracker", json.dumps({"task_list": json.dumps(ITEMS)}))
    messages = [
        {"role": "user", "content": "Build it."},
        *history("x", {}, "")[1:9],
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "p",
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "p", "content": LISTED},
    ]
    result = foldline.compact(messages, budget=1_600, policy=policy)
    assert result.receipt.status == "compacted"
    shown = result.messages[-1]["content"]
    given = json.loads(result.messages[-2]["tool_calls"][0]["function"]["arguments"])
    sent = json.dumps(result.messages, ensure_ascii=False)
    assert all(f"[{item['status']}] {item['id']}" in sent for item in OPEN)
    assert "note" in given or given == {"task_list": json.dumps(ITEMS)}
    *items, note = shown.split("\n")
    assert shown == LISTED or all(". [" in line or line.startswith("[… ") for line in items)
    assert shown == LISTED or "recall" in note


def test_a_plan_is_read_from_any_list_of_steps():
    assert plan_lines({"todos": [{"id": 3, "content": "a\nb", "status": "pending"}]}) == (
        "- [pending] 3: a b",
    )
    assert plan_lines({"command": "plan", "task_list": '[{"title": "a", "status": "todo"}]'}) == (
        "- [todo] a",
    )
    assert plan_lines({"todos": [{"text": "a", "completed": True}]}) == ("- [completed] a",)
    assert plan_lines({"command": "view"}) == ()
    assert plan_lines("[broken") == ()
    assert plan_lines({"todos": ["no item", 3, None]}) == ()


@pytest.mark.parametrize("line", ["- [completed] a", "1. [x] a", "3) ✅ a", "[DONE] a"])
def test_what_is_done_is_known_by_its_mark(line):
    assert is_done(line)
    assert not is_done(line.replace("completed", "pending").replace("[x]", "[ ]")[:3] + " b")


def test_open_items_go_last_and_what_is_left_out_is_counted():
    lines = [f"- [completed] {n}: done" for n in range(9)]
    lines += [f"- [pending] {n}: {'word ' * 20}" for n in range(9, 30)]

    def cost(kept):
        return sum(len(line) for line in kept)

    assert fit_plan(lines, 10_000, cost) == tuple(lines)
    assert fit_plan(lines, cost(lines) - 1, cost) == tuple(lines[9:])
    few = fit_plan(lines, 21 * 50, cost)
    assert [line.split(":")[0] for line in few] == [line.split(":")[0] for line in lines[9:]]
    fewer = fit_plan(lines, 200, cost)
    assert fewer[-1] == f"[… {21 - len(fewer) + 1} more open items …]"
    assert fit_plan(lines, 3, cost) == ()


def test_shortened_plans_stay_within_their_room_and_name_the_handle():
    call = c("1", "todo", json.dumps({"todos": ITEMS}))
    for room in (60, 120, 400):
        short = short_plan_call(call, room, size, "abc123")
        assert size(short) <= room
        assert "abc123" in json.loads(short)["note"]
        text = short_plan_text(LISTED, room, size, "abc123")
        assert size(text) <= room
        assert "recall abc123" in text
    assert short_plan_call(c("1", "todo", "no json"), 100, size, "h") is None
    assert short_plan_call(c("1", "todo", "{}"), 100, size, "h") is None


def test_other_tools_set_no_plan():
    assert is_plan_tool("TodoWrite")
    assert not is_plan_tool("Task")
    assert not is_plan_tool("plan_route_search")


SCRIPT = """const r = await tools.update_plan({plan:[
  {step:"Read \\"a.py\\" whole",status:"completed"}, {"step": "Mend it", "status": "in_progress"}
]});"""


def test_a_plan_is_read_from_a_script_that_sets_one():
    call = c("1", "exec", json.dumps({"input": SCRIPT}))
    lines = ('- [completed] Read "a.py" whole', "- [in_progress] Mend it")
    assert call_plan(call) == call_plan(c("1", "exec", SCRIPT)) == lines
    assert only_sets_plan(call)
    assert not only_sets_plan(c("1", "exec", f"{SCRIPT}; tools.exec_command(x)"))


@pytest.mark.parametrize(
    "script",
    [
        "tools.update_plan({plan:[{status:'completed', step:'Read it'}]})",
        (
            "const p = [];\ntools.update_plan({plan:[{step:'Old', status:'pending'}]});\n"
            'await tools.update_plan({plan:[{"status": "completed", "step": "Read it"}]});'
        ),
    ],
)
def test_the_last_plan_of_a_script_counts_however_it_is_written(script):
    assert call_plan(c("1", "exec", script)) == ("- [completed] Read it",)


@pytest.mark.parametrize(
    "more",
    [
        'text("port 8443")',
        'await tools["exec_command"]({cmd:"rm -r build"})',
        "f({a:[b]}); text(r)",
    ],
)
def test_a_script_that_does_more_than_set_a_plan_is_kept(more):
    assert not only_sets_plan(c("1", "exec", f"{SCRIPT}; {more}"))
    assert only_sets_plan(c("1", "exec", f"{SCRIPT}\ntext(r);"))


def test_a_plan_that_is_not_read_whole_is_none():
    script = "tools.update_plan({plan:[{step:'a {b} c',status:'pending'},{step:'d',status:'x'}]})"
    assert call_plan(c("1", "exec", script)) is None
    assert not only_sets_plan(c("1", "exec", script))


@pytest.mark.parametrize("tool", ["apply_patch", "python"])
def test_what_only_quotes_a_script_sets_no_plan(tool):
    patch = f"*** Begin Patch\n*** Add File: notes.md\n+ignore: {SCRIPT}\n*** End Patch"
    for written in (patch, json.dumps({"input": patch}), json.dumps({"code": f"X = '{SCRIPT}'"})):
        assert call_plan(c("1", tool, written)) is None
    assert call_plan(c("1", "exec", f"say('{SCRIPT}')")) is None


def test_a_script_that_only_names_a_plan_sets_none():
    assert call_plan(c("1", "exec", "print('update_plan')")) is None
    written = c("1", "write", json.dumps({"path": "plan.test.js", "content": SCRIPT}))
    assert call_plan(written) is None
    assert call_plan(c("1", "exec", "tools.update_plan({plan: " + "{step: " * 9_000)) is None
