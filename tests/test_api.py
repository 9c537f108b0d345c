import json
import subprocess
import sys

import pytest

import foldline
from foldline.core.asks import Reply
from foldline.errors import BudgetError, InputError, UnknownFormat
from foldline.formats.registry import DIALECTS
from foldline.testing import check_compaction
from foldline.tokens.estimate import EstimatedCounter

COUNTER = EstimatedCounter("o200k")


def history(steps=12):
    out = [
        {"role": "system", "content": "You mend builds."},
        {"role": "user", "content": "Mend the build of src/app.py."},
    ]
    for n in range(steps):
        call = {"name": "run", "arguments": json.dumps({"command": f"make part_{n}"})}
        out.append(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}],
            }
        )
        text = "\n".join(f"{n}.{line} built obj/part_{n}_{line}.o" for line in range(50))
        out.append({"role": "tool", "tool_call_id": f"c{n}", "content": text})
    return [*out, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Link."}]


def compact(messages, **rest):
    return foldline.compact(messages, counter=COUNTER, **rest)


def test_a_history_is_compacted_to_its_budget_in_its_own_shape():
    messages = history()
    result = compact(messages, budget=2_000)
    assert result.receipt.status == "compacted"
    assert isinstance(result.messages, list)
    assert foldline.count(result.messages, counter=COUNTER) == result.receipt.tokens_after <= 2_000
    check_compaction(result, messages, 2_000, counter=COUNTER)


def test_a_request_body_keeps_everything_around_its_messages():
    body = {"model": "m", "temperature": 0, "messages": history(), "metadata": {"a": 1}}
    result = compact(body, budget=2_000)
    assert result.messages.keys() == body.keys()
    assert {k: v for k, v in result.messages.items() if k != "messages"} == {
        k: v for k, v in body.items() if k != "messages"
    }
    assert len(result.messages["messages"]) < len(body["messages"])


def test_a_history_that_fits_is_returned_as_the_same_object():
    messages = history()
    result = compact(messages, budget=10**6)
    assert result.messages is messages
    assert (result.receipt.status, result.receipt.reason) == ("unchanged", "within budget")


def test_a_history_that_cannot_fit_is_returned_as_the_same_object_with_a_reason():
    messages = history()
    result = compact(messages, budget=5)
    assert result.messages is messages
    assert result.receipt.status == "failed"
    assert "5" in result.receipt.reason


def test_with_a_window_a_compaction_happens_only_when_due():
    messages = history()
    tokens = foldline.count(messages, counter=COUNTER)
    assert compact(messages, window=10 * tokens).receipt.reason == "below the trigger"
    result = compact(messages, window=tokens)
    assert result.receipt.status == "compacted"
    assert result.receipt.tokens_after < tokens / 2


def test_a_system_prompt_and_tools_beside_the_messages_are_counted_but_not_compacted():
    messages = history()
    tokens = foldline.count(messages, counter=COUNTER)
    window = 3 * tokens
    assert compact(messages, window=window).receipt.status == "unchanged"
    crowded = compact(messages, window=window, system="x " * tokens, tools=[{"name": "y " * 900}])
    assert crowded.receipt.status == "compacted"
    assert crowded.receipt.overhead > tokens / 2


def test_pinned_messages_stay_verbatim():
    messages = history()
    result = compact(messages, budget=2_500, pins=[3])
    assert messages[3] in result.messages


def test_removed_content_is_recalled_exactly():
    messages = history()
    result = compact(messages, budget=2_000)
    shown = {json.dumps(message) for message in result.messages}
    recalled = [result.recall(handle).raw for handle in result.receipt.recall]
    for message in messages:
        assert json.dumps(message) in shown or message in recalled


@pytest.mark.parametrize("name", foldline.policy.__globals__["POLICIES"])
def test_every_policy_is_known_by_its_name(name):
    messages = history()
    result = compact(messages, budget=2_500, policy=name)
    assert result.receipt.policy == name
    check_compaction(result, messages, 2_500, counter=COUNTER)


def test_a_failing_summarizer_changes_only_the_wording():
    def failing(ask):
        raise TimeoutError("the model is away")

    messages = history()
    result = compact(messages, budget=2_000, summarizer=failing)
    check_compaction(result, messages, 2_000, counter=COUNTER)
    assert "the model is away" not in json.dumps(result.messages)


def test_an_unusable_summary_keeps_the_promises():
    messages = history()
    result = compact(messages, budget=2_000, summarizer=lambda _: Reply("I cannot help."))
    check_compaction(result, messages, 2_000, counter=COUNTER)


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"budget": 0}, "positive"),
        ({"budget": -3}, "positive"),
        ({"budget": 8000.0}, "positive"),
        ({"budget": "0"}, "no room"),
        ({"window": 0}, "positive"),
        ({"budget": 10, "window": 10}, "not both"),
        ({"window": 100, "system": "x " * 500}, "Nothing is left"),
    ],
)
def test_numbers_that_contradict_each_other_are_errors(numbers, said):
    with pytest.raises(BudgetError, match=said):
        compact(history(1), **numbers)


def test_bad_input_names_the_message_and_the_field():
    broken = history(1)
    broken[2]["tool_calls"][0]["function"]["name"] = 7
    with pytest.raises(InputError) as caught:
        compact(broken, budget=10)
    assert (caught.value.index, caught.value.field) == (2, "tool_calls[0].function.name")


def test_an_unknown_format_lists_the_known_ones():
    with pytest.raises(UnknownFormat, match="openai-chat"):
        compact(history(1), budget=10, format="openai-chatt")


@pytest.mark.parametrize("name", DIALECTS)
def test_an_empty_conversation_has_nothing_to_compact(name):
    empty = []
    result = compact(empty, budget=1, format=name)
    assert result.messages is empty
    assert result.receipt.status == "unchanged"
    assert foldline.count(empty, format=name, counter=COUNTER) == 0


def test_the_input_is_never_changed():
    messages = history()
    before = json.dumps(messages)
    for budget in (5, 2_000, 10**6):
        compact(messages, budget=budget)
    assert json.dumps(messages) == before


def test_tools_nested_too_deeply_are_bad_input():
    deep = {}
    for _ in range(5_000):
        deep = {"a": deep}
    with pytest.raises(InputError, match="nested too deeply"):
        foldline.compact(history(), budget=100, tools=[deep])


# --- empty input, any input, explicit requests ---------------------------------------------


@pytest.mark.parametrize("empty", [[], {"messages": []}, {"contents": []}, {"input": []}])
def test_an_empty_history_is_unchanged_and_counts_nothing(empty):
    for sizes in ({"budget": 100}, {"window": 8_000}, {"force": True}):
        result = foldline.compact(empty, **sizes)
        assert result.messages is empty
        assert result.receipt.status == "unchanged"
    assert foldline.count(empty) == 0


def test_messages_are_counted_with_the_named_models_vocabulary():
    messages = [{"role": "user", "content": "Ein längerer Satz mit Umlauten. " * 50}]
    assert foldline.count(messages, model="sonnet") == foldline.count(
        messages, model="anthropic/claude-sonnet-5-5"
    )
    assert foldline.count(messages, model="sonnet") != foldline.count(messages, model="gpt-5")
    assert foldline.count(messages, model="gpt-5") == foldline.count(messages)


def test_an_unknown_model_is_named_in_the_receipt():
    messages = [{"role": "user", "content": "go"}]
    (unknown, _) = foldline.compact(messages, model="sonet").receipt.warnings
    assert "'sonet' is not known" in unknown
    assert "Did you mean 'sonnet'?" in unknown
    assert foldline.compact(messages, model="sonnet").receipt.warnings == ()


def test_an_explicit_request_compacts_even_if_not_due():
    told = [m for n in range(30) for m in (("user", f"question {n}"), ("assistant", "word " * 90))]
    messages = [{"role": role, "content": text} for role, text in told]
    assert foldline.compact(messages, window=100_000).receipt.status == "unchanged"
    result = foldline.compact(messages, window=100_000, force=True, focus="question 7")
    assert result.receipt.status == "compacted"
    assert result.receipt.tokens_after <= result.receipt.tokens_before * 0.45
    assert "question 7" in str(result.messages)


def test_a_budget_accepts_the_notation_of_the_command_line():
    messages = history()
    before = foldline.count(messages, counter=COUNTER)
    assert compact(messages, budget="10%").receipt.budget == before // 10
    assert compact(messages, budget="2k").receipt.budget == 2_000
    with pytest.raises(BudgetError, match="is not an amount"):
        compact(messages, budget="some")


FIRST = """
import sys
made = []
sys.addaudithook(lambda event, given: event == "compile" and made.append(given))
import foldline
from foldline.tokens.choose import choose_counter
messages = [{"role": "user", "content": f"question {n} " * 9} for n in range(60)]
done = foldline.compact(messages, budget=600, counter=choose_counter(prefer="estimate"))
assert done.receipt.status == "compacted"
slow = {"_hashlib", "base64", "dataclasses", "inspect", "pkgutil", "shlex", "tomllib"}
named_tuple = b"lambda _cls"
code = [code for code, file in made if file == "<string>" and not code.startswith(named_tuple)]
print(slow.intersection(sys.modules) or "", code or "")
"""


def test_a_first_compaction_makes_no_code_and_loads_no_slow_module():
    out = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == ""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pins": 3}, "field pins: a list is expected here, not an int"),
        ({"pins": [1.5]}, "There is no message to pin at 1.5"),
        ({"model": 5}, "field model: a text is expected here, not an int"),
        ({"format": 5}, "field format"),
        ({"focus": 5}, "field focus"),
        ({"system": 5}, "field system"),
        ({"tools": 5}, "field tools"),
        ({"counter": 5}, "field counter: an object that counts tokens is expected here, not 5"),
        ({"counter": len}, "field counter"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_by_name(given, sentence):
    with pytest.raises(InputError, match=sentence):
        foldline.compact(history(1), **given)


def test_a_summarizer_that_cannot_answer_is_refused_by_name(tmp_path):
    sentence = "field summarizer: a model or a function is expected here, not 5"
    with pytest.raises(InputError, match=sentence):
        foldline.compact(history(), budget=2_000, summarizer=5)
    with pytest.raises(InputError, match=sentence):
        foldline.Session.open(tmp_path / "a.db", "s", window=20_000, summarizer=5)


def test_what_compact_and_a_session_took_out_is_recalled_with_the_same_checks(tmp_path):
    result = compact(history(), budget=2_000)
    with foldline.Session.open(tmp_path / "a.db", "s", window=20_000) as session:
        session.extend(history())
        for recall, handle in (
            (result.recall, next(iter(result.receipt.recall))),
            (session.recall, session.messages[3].id),
        ):
            assert recall(handle, lines=1).text == recall(handle, lines="1").text
            with pytest.raises(InputError, match="a text or a whole number is expected here"):
                recall(handle, lines=slice(1, 3))
