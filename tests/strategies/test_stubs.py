import json

from tests.neutral import A, T, U, c, view

from foldline.core.strategy import CompactionContext
from foldline.strategies.stubs import clear, is_stub, short_arguments, write_stub
from foldline.values.handles import handles


def edit(found, index=2, part=0):
    names = handles(found.messages)
    context = CompactionContext(100, 100, 100, names)
    return clear(found, context, index, part, "clear", "an old result")


def view_with_result(text, **rest):
    return view(U("t"), A(c("1")), T("1", text, **rest), A("done"))


def test_a_stub_names_size_and_handle_of_the_result():
    found = view_with_result("x" * 4_000)
    made = edit(found)
    assert made.text.startswith("[Cleared: 1,008 tokens of run, an old result; recall ")
    assert made.handle in made.text
    assert is_stub(made.text)


def test_a_stub_says_that_the_tool_failed():
    assert "reported an error" in write_stub(T("1", is_error=True).results[0], 9, "h", "old")


def test_a_result_that_would_not_become_smaller_is_unchanged():
    assert edit(view_with_result("ok")) is None


def test_a_cleared_result_is_unchanged():
    assert (
        edit(
            view_with_result(write_stub(T("1").results[0], 9_999, "abcdef", "an old result" * 40))
        )
        is None
    )


def test_only_results_are_cleared():
    assert edit(view_with_result("x" * 4_000), index=0) is None


def test_long_strings_in_arguments_are_shortened_and_stay_json():
    call = c(
        "1", arguments=json.dumps({"path": "a.py", "text": "x" * 5_000, "deep": [["y" * 900]]})
    )
    short = json.loads(short_arguments(call, 0.1, "abcdef"))
    assert short["path"] == "a.py"
    assert len(short["text"]) < 700
    assert "recall abcdef" in short["text"]
    assert len(short["deep"][0][0]) < 200


def test_arguments_that_are_not_json_are_shortened_as_text():
    short = short_arguments(c("1", arguments="patch " * 1_000), 0.1, "abcdef")
    assert len(short) < 800
    assert "recall abcdef" in short


def test_deeply_nested_arguments_are_not_an_error():
    deep = "[" * 100_000 + "]" * 100_000
    assert short_arguments(c("1", arguments=deep), 0.1, "h")
    inner = {"a": "x" * 500}
    for _ in range(20):
        inner = {"a": inner}
    kept = short_arguments(c("1", arguments=json.dumps(inner)), 0.1, "h")
    assert json.loads(kept) == inner


def test_short_arguments_are_unchanged():
    assert short_arguments(c("1", arguments='{"a": 1}'), 0.1, "h") == '{"a": 1}'
