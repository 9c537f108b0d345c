"""File operations, by the names and the arguments of tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import c

from foldline.core.retention_settings import FileSettings
from foldline.snapshot.file_operations import (
    file_operations,
    normalize_path,
    path_argument,
    tool_operation,
)
from foldline.snapshot.invocations import Invocation


@pytest.mark.parametrize(
    ("tool", "arguments", "done"),
    [
        ("str_replace_editor", {"command": "view"}, "read"),
        ("str_replace_editor", {"command": "create"}, "written"),
        ("str_replace_editor", {"command": "str_replace"}, "edited"),
        ("write_file", {}, "written"),
        ("read_file", {}, "read"),
        ("readfile", {}, "read"),
        ("fswrite", {}, "written"),
        ("multiedit", {}, "edited"),
        ("applypatch", {}, "edited"),
        ("mcp__disk__list_directory", {}, "searched"),
        ("grep_search", {}, "searched"),
        ("search_replace", {}, "edited"),
        ("move_file", {}, "moved"),
        ("move_lines", {}, "edited"),
        ("overwrite_file", {}, "written"),
        ("createtextfile", {}, "written"),
        ("write file", {}, "written"),
        ("notebookedit", {}, "edited"),
        ("listdir", {}, "searched"),
        ("deletefile", {}, "deleted"),
        ("mcp__disk__delete_file", {}, "deleted"),
        ("functions.remove_directory", {}, "deleted"),
        ("remove_file", {}, "deleted"),
        ("delete", {}, "deleted"),
        ("delete_lines", {}, "edited"),
        ("todo_write", {}, ""),
        ("transmogrify", {}, ""),
        ("spreadsheet", {}, ""),
        ("review", {}, ""),
        ("bash", {"command": "cat a.py"}, ""),
        ("", {}, ""),
        ("read" * 99, {}, ""),
    ],
)
def test_what_a_tool_does_is_said_by_its_name_or_by_its_command(tool, arguments, done):
    assert tool_operation(tool, arguments) == done


def test_words_of_tools_can_be_named():
    own = FileSettings(reads=("Inspect",))
    assert tool_operation("inspect_source", {}, own) == "read"
    assert tool_operation("read", {}, own) == ""


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"path": "./src//a.py"}, "src/a.py"),
        ({"Path": "a.py"}, "a.py"),
        ({"path": "", "file": "a.py"}, "a.py"),
        ({"filePath": "a.py", "path": "", "files": []}, "a.py"),
        ({"paths": ["a.py", "b.py"]}, "a.py"),
        ({"path": "https://example.org/a.py"}, ""),
        ({"path": "a\nb"}, ""),
        ({"path": 7}, ""),
        (["a.py"], ""),
        (None, ""),
    ],
)
def test_a_path_is_found_under_every_usual_name(arguments, path):
    assert path_argument(arguments) == path


@pytest.mark.requirement("K29")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"file_path": "a.py", "content": "cut of', "a.py"),
        (r'{"path": "a \"quoted\" name.py", ', 'a "quoted" name.py'),
        ('{"file": "a.py"', "a.py"),
        ('{"url": "a.py"', ""),
        ("", ""),
        ('{"path": ', ""),
    ],
)
def test_a_path_is_found_in_broken_json(text, path):
    assert [one for one, _ in Invocation(c("1", "read", text)).files] == ([path] if path else [])


def test_a_path_with_signs_that_json_escapes_is_found_in_a_patch():
    patch = "*** Begin Patch\n*** Update File: caf\u00e9.py\n+x\n*** End Patch"
    call = c("1", "apply_patch", json.dumps({"input": patch}))
    assert Invocation(call).files == (("caf\u00e9.py", "edited"),)


def test_a_quoted_path_in_a_patch_that_is_no_json_is_no_file():
    patch = '*** Begin Patch\n*** Add File: a.json\n+{"path": "b.py"}\n*** End Patch'
    assert Invocation(c("1", "apply_patch", patch)).files == (("a.json", "created"),)


PATCH = "*** Begin Patch\n*** Update File: a.py\n+x\n*** End Patch"


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool_uses": [{"parameters": {"input": PATCH}}]},
        {"arguments": {"patch": PATCH}},
        {"command": ["bash", "-lc", f"apply_patch <<E\n{PATCH}\nE"]},
    ],
)
def test_a_patch_is_found_wherever_it_stands_in_the_arguments(arguments):
    assert Invocation(c("1", "run", json.dumps(arguments))).files == (("a.py", "edited"),)


@pytest.mark.parametrize("tool", ["grep", "think", "read"])
def test_a_header_of_a_patch_that_is_mentioned_changes_no_file(tool):
    call = c("1", tool, json.dumps({"pattern": "*** Delete File: app.py"}))
    assert Invocation(call).files == ()


@pytest.mark.parametrize(
    "arguments",
    [
        {"source": "a.py", "destination": "b.py"},
        {"source_path": "a.py", "destination_path": "b.py"},
        {"path": "a.py", "destination": "b.py"},
    ],
)
def test_a_moved_file_is_gone_and_another_is_written(arguments):
    call = c("1", "move_file", json.dumps(arguments))
    assert Invocation(call).files == (("a.py", "deleted"), ("b.py", "written"))


@given(st.text(), st.text(), st.one_of(st.none(), st.lists(st.text()), st.text()))
def test_any_call_is_read_without_an_error(name, text, value):
    paths = [path for path, _ in file_operations(c("1", name, text), value, "edited")]
    assert all(normalize_path(path) == path for path in paths)
