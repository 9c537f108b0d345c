"""Items larger than the window, and summarisers that cannot take them."""

import json

import pytest
from tests.neutral import A, T, U, c, log

import foldline
from foldline.core.budget import Budget
from foldline.formats.registry import DIALECTS
from foldline.testing import check_run
from foldline.testing.wires import wire
from foldline.tokens.estimate import EstimatedCounter

COUNTER = EstimatedCounter("o200k")
GIANT = "\n".join(f"row {n}: value_{n} = {n * 7}" for n in range(6_000))


@pytest.mark.parametrize("name", ["default", "clear", "window"])
@pytest.mark.requirement("F50", "C8")
def test_a_single_message_larger_than_the_window_is_cut_with_a_handle(name):
    value = [{"role": "user", "content": "x" * 1_000_000}]
    result = check_run(value, policy=name, window=32_000, counter=COUNTER)
    assert result.receipt.status == "compacted"
    (handle,) = result.receipt.recall
    assert handle in result.messages[0]["content"]
    assert result.recall(handle).text == "x" * 1_000_000


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.requirement("F51")
def test_a_giant_result_in_the_tail_is_cut_and_its_pair_stays(dialect):
    value = wire(log(U("t"), A(c("1")), T("1", "y " * 200_000)), dialect)
    result = check_run(value, format=dialect, budget=500, counter=COUNTER)
    assert result.receipt.status == "compacted"
    after = result.shown.messages
    assert len([call for m in after for call in m.calls]) == 1
    assert len([r for m in after for r in m.results]) == 1


@pytest.mark.parametrize("name", ["default", "window"])
@pytest.mark.requirement("F49")
def test_a_summary_of_giants_needs_no_window_of_its_own(name):
    value = wire(
        log(*(m for n in range(12) for m in (U(f"{n} {GIANT[:60_000]}"), A("ok")))), "openai-chat"
    )
    result = check_run(value, policy=name, budget=4_000, counter=COUNTER)
    assert result.receipt.status == "compacted"


@pytest.mark.requirement("F49")
def test_a_request_to_a_summariser_never_exceeds_its_window():
    asked = []

    def summarizer(ask):
        asked.append(COUNTER.count(ask.prompt) + ask.max_tokens)
        raise TimeoutError

    value = wire(log(*(m for n in range(10) for m in (U(f"{n} {GIANT}"), A("ok")))), "openai-chat")
    foldline.compact(value, window=100_000, summarizer=summarizer, counter=COUNTER)
    assert all(size <= 100_000 for size in asked)
    assert len(asked) <= 8


@pytest.mark.requirement("F53")
def test_a_reserve_smaller_than_the_output_does_not_delay_compaction():
    assert Budget.of_window(200_000, output=64_000).is_due(1.0, 150_000)


@pytest.mark.requirement("F70")
def test_many_large_results_are_brought_to_the_target_in_one_pass():
    steps = [m for n in range(10) for m in (A(c(str(n))), T(str(n), GIANT[:200_000]))]
    value = wire(log(U("t"), *steps), "anthropic")
    result = check_run(value, window=40_000, counter=COUNTER)
    assert result.receipt.tokens_after <= 40_000
    assert len(json.dumps(result.messages)) < 400_000


@pytest.mark.requirement("F95")
def test_metadata_beside_a_cut_output_stays():
    value = [
        {"role": "user", "parts": [{"text": "t"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"c": "make"}}}]},
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "run",
                        "response": {"output": GIANT, "exit_code": 2, "path": "/build"},
                    }
                }
            ],
        },
    ]
    result = check_run(value, budget=600, counter=COUNTER)
    response = result.messages[2]["parts"][0]["functionResponse"]["response"]
    assert (response["exit_code"], response["path"]) == (2, "/build")
    assert len(response["output"]) < len(GIANT)


@pytest.mark.requirement("F95")
def test_a_failed_tool_stays_a_failed_one_when_its_output_is_cut():
    value = wire(log(U("t"), A(c("1")), T("1", GIANT, is_error=True)), "anthropic")
    result = check_run(value, budget=600, counter=COUNTER)
    assert result.messages[2]["content"][0]["is_error"] is True
