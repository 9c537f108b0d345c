import json
from types import SimpleNamespace

import pytest

from foldline.errors import ModelError
from foldline.models.provider_failure import LONGEST, Failure, failure_of
from foldline.values.messages import Usage


class StatusError(Exception):
    """An exception shaped like those of the OpenAI and Anthropic SDKs."""

    def __init__(self, message, status_code=None, body=None, code=None, response=None):
        super().__init__(message)
        self.status_code = status_code
        self.body = body
        self.code = code
        self.response = response


def test_an_sdk_exception_is_read_by_status_code_and_body():
    body = {"message": "too long", "type": "invalid_request_error", "code": "context_length"}
    read = failure_of(StatusError("Error code: 400 - …", 400, body, "context_length"))
    assert read.status == 400
    assert read.code.split() == ["context_length", "context_length", "invalid_request_error"]
    assert read.text == "too long"
    assert read.type.startswith("StatusError Exception")


def test_an_error_nested_in_a_gateway_body_is_read():
    inner = json.dumps({"type": "error", "error": {"type": "too_large", "message": "so long"}})
    body = {"error": {"message": "Provider returned error", "metadata": {"raw": inner}}}
    read = failure_of(StatusError("", 400, body))
    assert "so long" in read.text
    assert "too_large" in read.code.split()


@pytest.mark.parametrize(
    ("value", "status", "text"),
    [
        ({"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}, 400, "m"),
        ([{"error": {"code": 400, "message": "m"}}], 400, "m"),
        ({"detail": "m"}, None, "m"),
        ({"error": "m"}, None, "m"),
        ({"Error": {"Code": "ValidationException", "Message": "m"}}, None, "m"),
        ("m", None, "m"),
        (b'{"error": {"message": "m"}}', None, "m"),
    ],
)
def test_bodies_of_several_providers(value, status, text):
    error = StatusError("what the exception says", None, value)
    read = failure_of(error)
    assert (read.status, read.text) == (status, text)


def test_the_response_is_read_if_the_exception_has_no_body():
    response = SimpleNamespace(status_code=413, text='{"error": {"message": "large"}}')
    read = failure_of(StatusError("", response=response))
    assert (read.status, read.text) == (413, "large")


def test_the_text_of_a_response_is_not_read_if_the_exception_has_a_body():
    class Response:
        reads = 0

        @property
        def text(self):
            self.reads += 1
            return "the whole answer"

    response = Response()
    read = failure_of(StatusError("", 400, {"message": "too long"}, response=response))
    assert read.text == "too long"
    assert response.reads == 0


def test_causes_and_members_of_a_group_are_read_too():
    try:
        try:
            raise StatusError("inner", 400, {"message": "inner words", "code": "a_code"})
        except StatusError as error:
            raise RuntimeError("outer words") from error
    except RuntimeError as error:
        read = failure_of(ExceptionGroup("several", [error]))
    assert read.status == 400
    assert read.code == "a_code"
    assert read.text.splitlines() == ["several (1 sub-exception)", "outer words", "inner words"]


def test_an_implicit_context_exception_is_not_read():
    error = RuntimeError("words")
    error.__context__ = StatusError("other", 400)
    assert failure_of(error).status is None


def test_a_foldline_error_keeps_status_code_and_limit():
    error = ModelError("too long", status=400, code="context_length_exceeded")
    error.limit = 8_000
    read = failure_of(error)
    assert (read.status, read.code, read.limit) == (400, "context_length_exceeded", 8_000)


ANSWERS = [
    (
        {"choices": [{"finish_reason": "length"}], "usage": {"prompt_tokens": 7}},
        "length",
        Usage(7, 0),
    ),
    (
        {
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 90},
        },
        "end_turn",
        Usage(5, 2, 90),
    ),
    (
        {
            "candidates": [{"finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 1},
        },
        "STOP",
        Usage(4, 1),
    ),
    (
        {
            "incomplete_details": {"reason": "max_output_tokens"},
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
        "max_output_tokens",
        Usage(3, 1),
    ),
    (
        {
            "response_metadata": {"stop_reason": "max_tokens"},
            "usage_metadata": {"input_tokens": 3},
        },
        "max_tokens",
        Usage(3),
    ),
]


def as_object(value):
    if isinstance(value, dict):
        return SimpleNamespace(**{key: as_object(item) for key, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("answer", "stop", "usage"), ANSWERS)
@pytest.mark.parametrize("make", [dict, as_object], ids=["json", "object"])
def test_stop_reason_and_usage_of_an_answer_are_read(answer, stop, usage, make):
    read = failure_of(make(answer), window=9)
    assert (read.stop, read.usage, read.window) == (stop, usage, 9)


def test_model_text_is_never_read_as_provider_text():
    answer = {"choices": [{"message": {"content": "prompt is too long"}}], "text": "too long"}
    assert failure_of(answer) == Failure()


def test_an_error_inside_an_answer_is_read_as_an_error():
    failed = SimpleNamespace(error=SimpleNamespace(code="too_long", message="words"))
    read = failure_of(failed)
    assert (read.code, read.text) == ("too_long", "words")


class Hostile(Exception):
    """An exception whose attributes and text all raise."""

    def __str__(self):
        raise ValueError

    def __getattr__(self, name):
        raise RuntimeError(name)


def deep():
    value = {}
    for _ in range(5_000):
        value = {"error": value}
    return value


def endless():
    error = ValueError("a circle")
    error.__cause__ = RuntimeError("of causes")
    error.__cause__.__cause__ = error
    return error


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        deep(),
        endless(),
        None,
        3,
        object(),
        [],
        {"error": []},
        {"usage": {"input_tokens": -4}},
        {"usage": {"input_tokens": "9" * 9_999}},
        {"choices": {}},
        "{" * 100_000,
        b"\xff\xfe",
        {"error": "{" * 50},
    ],
    ids=lambda value: type(value).__name__,
)
def test_failure_of_never_raises(value):
    assert isinstance(failure_of(value), Failure)


def test_what_is_read_is_bounded():
    read = failure_of(StatusError("x" * 10**6, 400, {"error": {"message": "y" * 10**6}}))
    assert len(read.text) <= LONGEST
