"""Invocations: calls that are read once."""

import json

import pytest
from tests.neutral import A, T, U, c

from foldline.snapshot.invocations import Invocations, signature
from foldline.values.groups import Site


def call(number, name, **arguments):
    return c(number, name, json.dumps(arguments))


def test_a_call_is_read_once_whoever_looks_at_it():
    found = Invocations([A(call("1", "run", command="touch a.py"))])
    assert found[Site(0, 0)] is found[Site(0, 0)]
    assert found[Site(0, 0)].command == "touch a.py"
    assert found[Site(0, 0)].changed_by_shell == (("a.py", "written"),)


def test_calls_with_a_result_come_newest_first():
    messages = [A(call("1", "a"), call("2", "b"), call("3", "c")), T("2", "two"), T("1", "one")]
    found = Invocations(messages)
    came = [(one.call.name, site, result.text) for one, site, result in found.newest_first()]
    assert came == [("a", Site(2, 0), "one"), ("b", Site(1, 0), "two")]
    assert found.result(Site(0, 2)) is None


def test_what_is_no_call_is_none():
    with pytest.raises(KeyError):
        Invocations([U("task")])[Site(0, 0)]


@pytest.mark.parametrize(
    ("tool", "arguments", "only_reads"),
    [
        ("read", {"path": "a.py"}, True),
        ("run", {"command": "cat a.py"}, True),
        ("run", {"command": "make"}, False),
        ("edit", {"path": "a.py"}, False),
    ],
)
def test_a_call_that_only_reads_shows_a_file_or_what_a_command_prints(tool, arguments, only_reads):
    found = Invocations([A(call("1", tool, **arguments))])
    assert found[Site(0, 0)].only_reads is only_reads


def test_arguments_that_are_not_json_are_compared_as_text():
    assert signature(c("1", "run", "ls -l")) == ("run", "ls -l")
    assert signature(c("1", "run", "[" * 100_000)) == ("run", "[" * 100_000)
    one, other = c("1", "run", '{"a": 1, "b": 2}'), c("2", "run", '{"b":2,"a":1}')
    assert signature(one) == signature(other)


def test_a_command_that_only_shows_something_reads_whatever_else_its_call_names():
    messages = [A(c("1", "Bash", '{"command": "cat x.py", "path": "/w"}')), T("1")]
    assert Invocations(messages)[Site(0, 0)].only_reads
