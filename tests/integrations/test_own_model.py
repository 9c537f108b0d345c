from types import SimpleNamespace

import pytest

from foldline import Config, InputError
from foldline.ask_runner import reader_of
from foldline.core.asks import ModelLimits
from foldline.integrations.model_calls import is_same_model, no_model, read_usage
from foldline.values.messages import Usage

SAME = Config(summarizer="same")


@pytest.mark.parametrize(
    ("summarizer", "config", "same"),
    [
        ("same", None, True),
        (None, SAME, True),
        ("light", SAME, False),
        (str, SAME, False),
        (None, None, False),
        (None, Config(), False),
    ],
)
def test_an_argument_overrides_the_configuration(summarizer, config, same):
    assert is_same_model(summarizer, config) is same


def test_the_error_names_the_alternative():
    error = no_model("A compressor", "Give the chat model itself.")
    assert isinstance(error, InputError)
    assert 'summarizer="same" names no model' in str(error)
    assert error.hint == "Give the chat model itself."


def test_usage_is_read_if_it_is_counted():
    counted = SimpleNamespace(input_tokens=10, output_tokens=3)
    assert read_usage(counted) == Usage(10, 3)
    assert read_usage(SimpleNamespace(input_tokens=None)) is None


def _model(reader):
    def answer(ask):
        return ""

    answer.reader = reader
    return answer


def test_a_model_without_a_known_window_is_assumed_to_have_the_agents():
    assert reader_of(_model(ModelLimits(0, 900, "mine")), 6_000) == ModelLimits(6_000, 900, "mine")
    assert reader_of(_model(ModelLimits(50)), 6_000) == ModelLimits(50)
