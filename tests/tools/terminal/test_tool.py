"""The tool, called as in the reference and as by a provider."""

import asyncio

import pytest

from foldline.tools import ErrorCode, TerminalTool, Toolbox

pytestmark = pytest.mark.requirement("T7")


@pytest.fixture
def tool(project, open_in):
    open_in("bubblewrap", project)
    return TerminalTool(workspace=project, timeout=10, max_output_size=1 << 20, allow_cd=True)


def test_the_reference_calls_run_unchanged(tool):
    assert tool.run({"command": "find . -name '*.py' -type f | sort"}).startswith("./src/app.py")
    assert "TODO" in tool.run({"command": "grep -rn 'TODO\\|FIXME' --include='*.py' | head -n 10"})
    assert tool.run({"command": "head -n 1 data.csv | tr ',' '\n'"}) == "a\n1"
    assert tool.run({"command": "cd src"}) == "(no output)"
    assert tool.run({"command": "ls"}) == "app.py\ndeep"
    assert "rm changes files" in tool.run({"command": "rm -rf /"})
    assert "outside the workspace" in tool.run({"command": "cat /etc/passwd"})
    assert "outside the workspace" in tool.run({"command": "cd ../../../etc"})


def test_cd_can_be_forbidden(project, tool):
    fixed = TerminalTool(project, allow_cd=False)
    assert "not allowed" in fixed.run({"command": "cd src"})


def test_a_provider_sees_outputs_with_codes(tool):
    box = Toolbox([tool.tool])
    assert box.schemas("anthropic")[0]["name"] == "terminal"
    assert box.run("terminal", {"command": "ls"}).ok
    assert box.run("terminal", {"command": "ls $(id)"}).code == ErrorCode.DENIED
    assert box.run("terminal", {"command": "rm x"}).code == ErrorCode.NEEDS_APPROVAL
    assert box.run("terminal", {}).code == ErrorCode.INVALID_ARGUMENTS
    assert box.run("terminal", {"handle": "out-x"}).code == ErrorCode.NOT_FOUND
    output = asyncio.run(box.arun("terminal", {"command": "pwd"}))
    assert output.data["status"] == "ok"
    assert output.data["sandbox"] == "bubblewrap"


def test_a_long_output_can_be_read_further_by_its_handle(project, tool):
    (project / "long").write_text("".join(f"line {n}\n" for n in range(9_000)))
    output = tool.tool.run({"command": "cat long"})
    assert output.status == "partial"
    more = tool.tool.run({"handle": output.data["handle"], "start": 20_000})
    assert more.text.splitlines()[1] in (project / "long").read_text()
    assert "more characters: start 40000" in more.text
