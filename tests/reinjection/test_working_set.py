"""A working set updated message by message equals one found in the whole log at once."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import A, T, U, c, log
from tests.reinjection.whole_log import accesses, newest_plan

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.file_access import newest, paths_in_view
from foldline.reinjection.working_set import WorkingSet

SETTINGS = FileSettings()
TOOLS = ("read_file", "write_file", "edit_file", "run", "todo")
PATHS = ("a.py", "b.py", "")


def arguments(tool, path, number):
    if tool == "todo":
        todos = [{"content": f"step {number}", "status": "pending"}] if path != "b.py" else []
        return json.dumps({"todos": todos})
    return json.dumps({"path": path, "content": f"text {number}"} if path else {"x": 1})


calls = st.tuples(st.sampled_from(TOOLS), st.sampled_from(PATHS), st.integers(0, 12))
answers = st.tuples(st.integers(0, 12), st.sampled_from(["fine", "error: no such file"]))
steps = st.lists(
    st.one_of(
        st.lists(calls, min_size=1, max_size=3),
        st.tuples(answers, st.booleans()),
        st.just("the user"),
    ),
    max_size=25,
)


def conversation(made):
    messages = [U("task")]
    for step in made:
        if step == "the user":
            messages.append(U("go on"))
        elif isinstance(step, list):
            parts = (
                c(f"c{number}", tool, arguments(tool, path, number)) for tool, path, number in step
            )
            messages.append(A(*parts))
        else:
            (number, text), wrong = step
            messages.append(T(f"c{number}", text, is_error=wrong))
    return log(*messages)


@given(steps, st.data())
def test_a_working_set_agrees_with_the_whole_log(made, data):
    messages = conversation(made)
    every = {message.id: message for message in messages}
    shown = {
        number: message for number, message in every.items() if data.draw(st.integers(0, 2)) != 0
    }

    found = WorkingSet.of(messages, SETTINGS)

    whole = accesses(messages, SETTINGS)
    assert newest(found.accesses) == newest(whole)
    assert paths_in_view(found.accesses, shown, every) == paths_in_view(whole, shown, every)
    assert [t for t in found.accesses if not t.path] == [t for t in whole if not t.path]
    assert found.plan == newest_plan(messages)


def test_repeated_reads_of_a_file_are_kept_once():
    messages = [U("task")]
    for number in range(100):
        messages += [
            A(c(f"r{number}", "read_file", '{"path": "a.py"}')),
            T(f"r{number}", f"version {number}"),
            A(c(f"e{number}", "edit_file", '{"path": "b.py", "new_string": "x"}')),
            T(f"e{number}", "done"),
        ]

    found = WorkingSet.of(log(*messages), SETTINGS).accesses

    assert [access.seen for access in found if access.path == "a.py"] == ["version 99"]
    assert len(found) <= 51
    assert [access.path for access in newest(found)] == ["b.py", "a.py"]
