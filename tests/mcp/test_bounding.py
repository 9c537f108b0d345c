from __future__ import annotations

import pytest

from foldline.mcp.bounding import bounded
from foldline.tokens.estimate import EstimatedCounter
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.spec import Tool
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())


def tool(output: ToolOutput) -> Tool:
    return Tool("t", "d", {"type": "object", "properties": {}}, lambda _: output)


def test_a_short_answer_is_left_alone() -> None:
    output = ToolOutput("short")
    assert bounded(tool(output), 100, COUNTER).run({}) is output


@pytest.mark.parametrize(
    "text", ["word " * 5_000, "x" * 30_000, "长" * 9_000, "\U0001f600" * 4_000]
)
@pytest.mark.parametrize("limit", [50, 200, 1_000])
def test_a_long_answer_is_cut_to_its_bound_and_says_so(text: str, limit: int) -> None:
    done = bounded(tool(ToolOutput(text)), limit, COUNTER).run({})
    assert COUNTER.text(done.text) <= limit
    assert done.status == "partial"
    assert "were cut" in done.text


def test_an_error_stays_one() -> None:
    output = ToolOutput.error(ErrorCode.NOT_FOUND, "no " * 5_000)
    done = bounded(tool(output), 100, COUNTER).run({})
    assert done.code == ErrorCode.NOT_FOUND
