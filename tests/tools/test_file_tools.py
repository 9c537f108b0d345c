import pytest

from foldline.tools import READ_ONLY, ErrorCode, ToolRegistry, ToolView, Workspace, file_tools


@pytest.fixture
def tools(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    return ToolRegistry(file_tools(Workspace(tmp_path)))


@pytest.mark.requirement("H18")
def test_a_model_reads_writes_and_edits_with_four_tools(tools, tmp_path):
    assert tools.run("read_file", '{"path": "a.txt", "limit": null}').text == "one\ntwo\n"
    one = {"path": "a.txt", "old_string": "one", "new_string": "1"}
    assert tools.run("edit_file", one).text == "a.txt was changed: 6 bytes."
    edits = [
        {"old_string": "1", "new_string": "I"},
        {"old_string": "two", "new_string": "II", "replace_all": True},
    ]
    assert tools.run("multi_edit_file", {"path": "a.txt", "edits": edits}).ok
    assert (tmp_path / "a.txt").read_text() == "I\nII\n"
    assert tools.run("write_file", {"path": "b.txt", "content": ""}).ok
    assert (tmp_path / "b.txt").read_bytes() == b""


def test_arguments_are_checked_before_anything_is_touched(tools):
    for name, arguments in (
        ("read_file", {}),
        ("read_file", {"path": "a.txt", "offset": -1}),
        ("write_file", {"path": "a.txt"}),
        ("edit_file", {"path": "a.txt", "old_string": "", "new_string": "x"}),
        ("multi_edit_file", {"path": "a.txt", "edits": []}),
        ("multi_edit_file", {"path": "a.txt", "edits": [{"old_string": "one"}]}),
    ):
        assert tools.run(name, arguments).code is ErrorCode.INVALID_ARGUMENTS


@pytest.mark.requirement("H13")
def test_read_only_permissions_have_no_tool_that_writes(tools):
    assert [tool.name for tool in ToolView(tools, READ_ONLY)] == ["read_file"]
