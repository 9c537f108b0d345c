import pytest

from foldline import errors
from foldline.errors import (
    BudgetError,
    CannotFit,
    FoldlineError,
    InputError,
    MissingExtra,
    UnknownFormat,
)


def test_every_error_is_a_foldline_error():
    raised = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    ]
    assert len(raised) > 5
    assert all(issubclass(kind, FoldlineError) for kind in raised)
    assert issubclass(UnknownFormat, InputError)


def test_an_input_error_names_the_message_and_the_field():
    error = InputError("expected text", index=3, field="content[0]", hint="Send text.")
    assert str(error) == "message 3, field content[0]: expected text. Send text."
    assert (error.index, error.field) == (3, "content[0]")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({}, "bad"),
        ({"index": 0}, "message 0: bad"),
        ({"field": "messages"}, "field messages: bad"),
    ],
)
def test_an_input_error_includes_every_known_detail(where, said):
    assert str(InputError("bad", **where)) == said


def test_a_hint_is_part_of_the_message():
    assert "at least 1,200 tokens" in str(CannotFit("Too large.", needed=1_200, budget=800))
    assert "pip install 'foldline[tokens]'" in str(MissingExtra("splintr-rs", "tokens"))
    assert str(BudgetError("No.")) == "No."
