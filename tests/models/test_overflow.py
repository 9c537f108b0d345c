# ruff: noqa: E501  # one row per message of a provider

import re

import pytest

from foldline.core.budget import Budget
from foldline.errors import InputError
from foldline.models.overflow import DetectedOverflow, Failure, detect, failure_of, overflow_in
from foldline.values.messages import Usage

# One row per message: provider, limit, size of the request, text.
_TABLE = """
anthropic | 200000 | 210000 | prompt is too long: 210000 tokens > 200000 maximum
anthropic | 200000 | 210000 | prompt is too long: 210,000 tokens > 200,000
anthropic | 204698 | 221092 | input length and `max_tokens` exceed context limit: 199759 + 21333 > 204698, decrease input length or `max_tokens` and try again
openai | 128000 | 130000 | This model's maximum context length is 128000 tokens. However, you requested 130000 tokens (120000 in the messages, 10000 in the completion). Please reduce the length
openai | 128000 | 130001 | This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens (129000 in the messages, 1001 in the functions).
openai | 131072 | 150000 | This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens (138000 of text input, 2000 of tool input, 10000 in the output).
openai | 272000 | 300000 | Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.
openai | - | - | Your input exceeds the context window of this model.
gemini | 1048576 | 1200000 | The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).
gemini | 1048576 | 1100000 | Unable to submit request because the input token count is 1100000 but model only supports up to 1048576.
bedrock | 8192 | 9000 | Too many input tokens. Max input tokens: 8192, request input token count: 9000
bedrock | 204800 | 300000 | expected maxLength: 204800, actual: 300000
any | - | - | ValidationException: Input is too long for requested model.
vllm | 8192 | 10500 | 'max_tokens' or 'max_completion_tokens' is too large: 10000. This model's maximum context length is 8192 tokens and your request has 500 input tokens
vllm | 8192 | 10001 | You passed 9001 input tokens and requested 1000 output tokens. However, the model's context length is only 8192 tokens
vllm | 8192 | 9000 | The decoder prompt (length 9000) is longer than the maximum model length of 8192.
sglang | 8192 | 9000 | The input (9000 tokens) is longer than the model's context length (8192 tokens).
xai | 131072 | 537812 | This model's maximum prompt length is 131072 but the request contains 537812 tokens.
mistral | 32768 | 40000 | Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length
moonshot | 262144 | 300000 | Your request exceeded model token limit: 262144 (requested: 300000)
qwen | 129024 | - | <400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]
cohere | 4081 | 5000 | too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000
huggingface | 8193 | 9512 | Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`
fireworks | 131071 | 140000 | The prompt is too long: 140000, model maximum context length: 131071
llama.cpp | 8192 | 9000 | request (9000 tokens) exceeds the available context size (8192 tokens), try increasing
lm studio | 4096 | - | the model is loaded with context length of only 4096 tokens
ollama | - | - | prompt too long; exceeded max context length by 123 tokens
copilot | 128000 | 150000 | prompt token count of 150000 exceeds the limit of 128000
minimax | - | - | invalid params, context window exceeds limit (2013)
any | - | - | 400 bad request: token limit exceeded
any | - | - | litellm.BadRequestError: the context window was exceeded
"""


def _number(text):
    return None if text == "-" else int(text)


def _rows():
    for line in _TABLE.strip().splitlines():
        provider, limit, asked, words = line.split(" | ", 3)
        yield provider, words, _number(limit), _number(asked)


LIMITS = list(_rows())


@pytest.mark.requirement("K33", "F55")
@pytest.mark.parametrize(("provider", "words", "limit", "asked"), LIMITS)
@pytest.mark.parametrize("status", [400, 413, 422, None])
def test_the_numbers_of_every_provider_are_read(provider, words, limit, asked, status):
    found = detect(Failure(status=status, text=words))
    assert found is not None
    assert (found.limit, found.requested) == (limit, asked)
    assert found.how == provider or status == 413


def test_the_reserve_for_the_answer_is_read_separately():
    found = overflow_in(LIMITS[3][1])
    assert (found.output, found.given) == (10_000, 120_000)
    assert DetectedOverflow("any").given is None


@pytest.mark.requirement("K33")
@pytest.mark.parametrize(
    "failure",
    [
        Failure(status=413),
        Failure(status=413, code="error request_too_large"),
        Failure(code="request_too_large", text="Request exceeds the maximum size"),
        Failure(status=400, code="context_length_exceeded"),
        Failure(status=500, code="exceed_context_size_error", limit=8_192),
        Failure(type="ContextWindowExceededError BadRequestError", status=400),
        Failure(type="OpenAIContextOverflowError BadRequestError"),
        Failure(type="ErrPromptTooLong Exception"),
        Failure(stop="model_context_window_exceeded"),
        Failure(stop="MODEL_CONTEXT_WINDOW_EXCEEDED"),
        Failure(stop="overflow"),
    ],
)
def test_status_code_class_and_stop_reason_suffice_without_text(failure):
    assert detect(failure) is not None


RATES = [
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 35210. The input or output tokens must be reduced in order to run successfully.",
    "Rate limit reached: 128000 tokens is the maximum context length you may use per day",
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
    "Too many tokens, please wait before trying again. prompt is too long",
    "You exceeded your current quota",
    "Extra usage is required for long context requests.",
]


@pytest.mark.requirement("K33", "F55")
@pytest.mark.parametrize("words", RATES)
@pytest.mark.parametrize("status", [429, 413, 400, None])
def test_a_rate_limit_is_never_an_overflow(words, status):
    assert detect(Failure(status=status, text=words)) is None


@pytest.mark.requirement("F55")
@pytest.mark.parametrize(
    "failure",
    [
        Failure(status=400, text="invalid tool schema"),
        Failure(status=500, text="The context window was exceeded, said the user's text"),
        Failure(status=500, text="prompt is too long: 210000 tokens > 200000 maximum"),
        Failure(status=529, text="Overloaded"),
        Failure(status=429, code="context_length_exceeded"),
        Failure(status=401, text="the maximum context length is 5000 tokens"),
        Failure(status=400, text="A context window is a nice thing to have"),
        Failure(text="normal error"),
        Failure(text="generic network error"),
        Failure(type="FileNotFoundError OSError", text="File name too long"),
        Failure(stop="length", usage=Usage(50, 100)),
        Failure(),
    ],
)
def test_other_errors_are_not_overflows(failure):
    assert detect(failure) is None


@pytest.mark.requirement("K33")
@pytest.mark.parametrize(
    ("stop", "usage", "window", "silent"),
    [
        ("stop", Usage(8_001), 8_000, True),
        ("stop", Usage(1_000, 10, 7_001), 8_000, True),
        ("stop", Usage(8_000, 900), 8_000, False),
        ("stop", Usage(8_001), None, False),
        ("length", Usage(7_950, 0), 8_000, True),
        ("length", Usage(7_950, 50), 8_000, False),
        ("stop", Usage(7_950, 0), 8_000, False),
    ],
)
def test_silent_truncation_is_detected(stop, usage, window, silent):
    found = detect(Failure(stop=stop, usage=usage, window=window))
    assert (found is not None) == silent
    if found:
        assert (found.how, found.limit) == ("usage", 8_000)


@pytest.mark.requirement("K33")
def test_a_wrapped_error_is_recognised():
    class PromptTooLong(Exception):
        """A sentinel exception of an agent."""

    with pytest.raises(RuntimeError) as caught:
        raise RuntimeError("the turn failed") from PromptTooLong()
    assert overflow_in(caught.value) == DetectedOverflow("class")


@pytest.mark.requirement("C19")
def test_custom_detectors_run_before_the_table():
    def teapot(failure):
        return DetectedOverflow("teapot", 418) if failure.status == 418 else None

    assert detect(Failure(status=418), (teapot,)) == DetectedOverflow("teapot", 418)
    assert detect(Failure(status=413), (teapot,)) == DetectedOverflow("status")
    assert detect(Failure(status=418)) is None


@pytest.mark.parametrize("limit", ["7", "99999999999", "0"], ids=["tiny", "absurd", "zero"])
def test_an_implausible_limit_is_ignored(limit):
    found = overflow_in(f"prompt is too long: 300 tokens > {limit} maximum")
    assert found == DetectedOverflow("anthropic", None, 300)


def test_a_hostile_text_is_read_in_linear_time():
    hostile = "maximum context length is 1 tokens requested " * 10_000 + "1,111" * 10_000
    assert re.sub(r"\W", "", overflow_in(hostile).how) == "any"


@pytest.mark.requirement("F53")
@pytest.mark.parametrize(
    ("window", "room", "total", "over"),
    [
        (200_000, {"output": 32_000}, 110_000, False),
        (100_000, {"output": 32_000}, 80_000, True),
        (400_000, {"output": 128_000, "max_input": 272_000}, 274_000, True),
        (400_000, {"output": 128_000, "max_input": 272_000}, 230_000, False),
        (200_000, {"output": 10_000, "max_input": 120_000}, 59_999, False),
        (200_000, {}, 181_000, True),
        (200_000, {"max_input": 200_000}, 181_000, True),
        (100_000, {"output": 30_000, "margin": 10_000}, 60_001, True),
        (100_000, {"output": 30_000, "margin": 10_000}, 59_999, False),
        (100_000, {"output": 50_000, "margin": 10_000}, 39_999, False),
        (100_000, {"output": 50_000, "margin": 10_000}, 50_001, True),
        (100_000, {"output": 8_192, "margin": 10_000}, 81_807, False),
        (100_000, {"output": 8_192, "margin": 10_000}, 81_809, True),
    ],
)
def test_other_agents_decide_the_same_from_usage(window, room, total, over):
    assert (total > Budget.of_window(window, **room).limit) == over


def test_system_prompt_and_tools_count_towards_the_trigger():
    budget = Budget.of_window(100_000, output=0, margin=0)
    assert not budget.is_due(0.8, 75_000)
    assert budget.around(10_000).is_due(0.8, 75_000)


def test_detect_accepts_the_result_of_failure_of():
    assert detect(failure_of({"error": {"message": "prompt is too long"}})) == DetectedOverflow(
        "any"
    )


def test_a_detector_may_return_a_bool():
    failure = failure_of(ValueError("the house is full"))
    assert detect(failure, [lambda found: "full" in found.text]) == DetectedOverflow("detector")
    assert detect(failure, [lambda _: False, lambda _: None]) is None
    with pytest.raises(InputError, match="a detector of overflows returned 3"):
        detect(failure, [lambda _: 3])
