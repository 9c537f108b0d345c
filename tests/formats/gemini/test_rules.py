import pytest

from foldline.formats.gemini.rules import violations


def user(*parts):
    return {"role": "user", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def model(*parts):
    return {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}


def call(name, number=None, signature=None):
    function = {"name": name, "args": {}} | ({"id": number} if number else {})
    return {"functionCall": function} | ({"thoughtSignature": signature} if signature else {})


def answer(name, number=None):
    function = {"name": name, "response": {"output": "x"}} | ({"id": number} if number else {})
    return {"functionResponse": function}


def rules(contents):
    return [(violation.index, violation.rule) for violation in violations(contents)]


@pytest.mark.parametrize(
    "contents",
    [
        [user("a")],
        [user("a"), user("b"), model("c"), model("d")],
        [user("a"), model("t", call("f")), user(answer("f")), model(call("f"))],
        [user("a"), model(call("f"), call("g")), user(answer("f"), answer("g"))],
        [
            user("a"),
            model(call("f", "1"), call("f", "2")),
            user(answer("f", "1"), answer("f", "2")),
        ],
        [user("a"), model(call("f")), user(answer("f", "made up by the client"))],
        [user("a"), model(call("f", "1")), {"role": "function", "parts": [answer("f")]}],
        [
            user("a"),
            model(call("f", None, "sig"), call("f")),
            user(answer("f"), answer("f"), "ok?"),
        ],
        [user("a"), model({"text": "hm", "thought": True}), model(call("f"))],
        [user("a"), model({"text": "", "thoughtSignature": "s"})],
    ],
)
def test_valid_input_has_no_violations(contents):
    assert rules(contents) == []


@pytest.mark.parametrize(
    ("contents", "found"),
    [
        ([], [(0, "empty")]),
        ([model("a")], [(0, "order")]),
        ([{"role": "assistant", "parts": [{"text": "a"}]}], [(0, "role")]),
        ([{"parts": [{"text": "a"}]}], [(0, "role")]),
        ([user()], [(0, "empty")]),
        ([{"role": "user"}], [(0, "empty")]),
        ([user("")], [(0, "empty")]),
        ([user({"thought": True})], [(0, "empty")]),
        ([user("a"), model("b"), model(call("f"))], [(2, "order")]),
        ([user("a"), user(call("f"))], [(1, "order")]),
        ([user("a"), model(call("f")), user("b"), model("c")], [(1, "pairing")]),
        (
            [user("a"), model(call("f"), call("g")), user(answer("f")), model("c")],
            [(1, "pairing")],
        ),
        ([user("a"), model(call("f")), user(answer("f"), answer("f"))], [(2, "pairing")]),
        (
            [user("a"), model(call("f"), call("g")), user(answer("g"), answer("f"))],
            [(2, "order")],
        ),
        (
            [
                user("a"),
                model(call("f", "1"), call("f", "2")),
                user(answer("f", "2"), answer("f", "1")),
            ],
            [(2, "order")],
        ),
        ([user("a"), model(call("f")), user(answer("g"))], [(2, "pairing"), (1, "pairing")]),
        (
            [user("a"), model(call("f", "1")), user(answer("f", "2"))],
            [(2, "pairing"), (1, "pairing")],
        ),
        ([user(answer("f"))], [(0, "pairing")]),
        ([user("a"), model(call("f", "1"), call("f", "2", "sig"))], [(1, "signature")]),
        ([user("a"), model({"functionCall": {"name": "f", "args": "{}"}})], [(1, "arguments")]),
        ([user("a"), model({"functionCall": {"args": {}}})], [(1, "type")]),
        ([user("a"), model({"functionCall": {"name": "f", "id": 3}})], [(1, "type")]),
        ([user("a"), model({"functionCall": "f"})], [(1, "type")]),
        ([{"role": "user", "parts": ["a"]}], [(0, "type")]),
        (["a"], [(0, "role"), (0, "empty")]),
    ],
)
def test_invalid_input_violates_the_named_rule(contents, found):
    assert rules(contents) == found


def test_a_head_that_was_cut_off_inside_a_tool_loop_is_rejected():
    contents = [model(call("f")), user(answer("f")), model("done")]
    assert rules(contents) == [(0, "order"), (0, "order")]
