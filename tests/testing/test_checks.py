import json
import subprocess
import sys
from dataclasses import dataclass, replace

import pytest

import foldline
from foldline.core.strategy import Plan, Policy, Rung
from foldline.testing import check_compaction, check_policy, check_run
from foldline.testing.promises import check_prefix
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Drop, Fold, Rewrite
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Text

COUNTER = EstimatedCounter("o200k")


def history(results=8):
    out = [
        {"role": "system", "content": "You mend builds."},
        {"role": "user", "content": "Mend the build of src/app.py."},
    ]
    for n in range(results):
        call = {"name": "run", "arguments": json.dumps({"command": f"make {n}"})}
        out.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}],
            }
        )
        text = "\n".join(
            f"step {n}.{line} of {n * line} in build/log_{n}.txt" for line in range(60)
        )
        out.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    out.append({"role": "assistant", "content": "All steps ran."})
    out.append({"role": "user", "content": "Now the tests."})
    return out


@dataclass(frozen=True)
class Breaking:
    """A strategy that does one forbidden thing."""

    edits: object
    name: str = "breaking"

    def propose(self, view, need):
        yield from ()
        return Plan(tuple(self.edits(view, need)))


def breaking(edits):
    return Policy("breaking", (Rung(Breaking(edits), 0.0),))


def drop(*positions):
    return lambda view, _: [Drop(tuple(view.messages[i].id for i in positions), "drop")]


def clear_everything(view, need):
    return [
        Rewrite(message.id, 0, "[gone]", "clear", need.handles[message.id])
        for message in view.messages
        if message.results and message.id in need.handles
    ]


def drop_the_last(view, _):
    return [Drop((view.messages[-1].id,), "drop")]


def a_snapshot_of_everything(view, need):
    ids = tuple(message.id for message in view.messages)
    text = Text("A summary that says nothing.")
    return [Fold(ids, Message("user", (text,), id=derived_id(*ids), origin="snapshot"))]


def run(messages, edits):
    budget = foldline.count(messages, counter=COUNTER) - 1
    return check_run(messages, policy=breaking(edits), budget=budget, counter=COUNTER)


@pytest.mark.parametrize(
    ("edits", "promise"),
    [
        (drop(3), "PAIR"),
        (drop(0, 2, 3), "TASK"),
        (drop(1, 2, 3), "TASK"),
        (drop(2, 3, -1), "TASK"),
        (a_snapshot_of_everything, "TASK"),
    ],
    ids=["a call stays", "no system", "no task", "no latest", "nothing left"],
)
def test_a_broken_promise_of_a_strategy_is_named(edits, promise):
    with pytest.raises(AssertionError, match=promise):
        run(history(), edits)


def test_a_result_whose_call_a_strategy_drops_is_repaired_to_a_note():
    messages = run(history(), drop(2)).messages
    calls = {call["id"] for message in messages for call in message.get("tool_calls") or ()}
    assert {m["tool_call_id"] for m in messages if m["role"] == "tool"} <= calls
    assert messages != history()


def test_clearing_what_the_model_has_not_read_is_found():
    unread = history()[:-2]
    with pytest.raises(AssertionError, match="UNREAD"):
        run(unread, clear_everything)


def test_removing_without_a_handle_is_found():
    messages = history()
    result = foldline.compact(messages, budget=2_000, counter=COUNTER)
    forgetful = replace(result, receipt=replace(result.receipt, recall={}))
    with pytest.raises(AssertionError, match="LOSSLESS"):
        check_compaction(forgetful, messages, 2_000, counter=COUNTER)


@pytest.mark.parametrize(
    ("field", "value", "promise"),
    [
        ("tokens_after", 1, "HONEST"),
        ("tokens_before", 10**6, "HONEST"),
        ("messages_after", 0, "HONEST"),
        ("tokens_after", 10**7, "SHRINK"),
        ("budget", 10**6, "SHRINK"),
        ("kept_prefix", 5, "PREFIX"),
        ("kept_prefix", 10**6, "PREFIX"),
        ("reason", "", "SHRINK"),
    ],
)
def test_a_receipt_with_wrong_counts_is_found(field, value, promise):
    messages = history()
    result = foldline.compact(messages, budget=2_000, counter=COUNTER)
    lying = replace(result, receipt=replace(result.receipt, **{field: value}))
    with pytest.raises(AssertionError, match=promise):
        check_compaction(lying, messages, 2_000, counter=COUNTER)


def test_a_prefix_that_is_not_there_at_all_is_found():
    messages = history()
    result = foldline.compact(messages, budget=2_000, counter=COUNTER)
    assert result.receipt.kept_prefix
    with pytest.raises(AssertionError, match="PREFIX"):
        check_prefix(replace(result, messages=[]), messages)


def test_a_failed_compaction_must_return_the_input_object():
    messages = history()
    result = foldline.compact(messages, budget=10, counter=COUNTER)
    assert result.receipt.status == "failed"
    check_compaction(result, messages, 10, counter=COUNTER)
    with pytest.raises(AssertionError, match="VALID"):
        check_compaction(result, history(), 10, counter=COUNTER)


def test_a_custom_policy_is_checked_on_generated_histories():
    check_policy("window", examples=15, formats=["anthropic"], counter=COUNTER)
    with pytest.raises(AssertionError, match=r"TASK|VALID|PAIR|UNREAD"):
        check_policy(
            breaking(drop_the_last), examples=20, formats=["openai-chat"], counter=COUNTER
        )


def test_without_hypothesis_the_error_names_the_package_to_install():
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import foldline.testing\n"
        "from foldline.errors import MissingExtra\n"
        "try: foldline.testing.check_policy('default')\n"
        "except MissingExtra as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'foldline[testing]'" in done.stdout


def test_importing_the_kit_loads_no_third_party_module():
    code = "import sys, foldline.testing; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
