"""
The terminal as a tool.

    terminal = TerminalTool(workspace="./project", timeout=30)
    print(terminal.run({"command": "find . -name '*.py' -type f"}))
    registry.add(terminal.tool)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.errors import RecallError
from foldline.tools.approvals import Approvals
from foldline.tools.description import describe_tool
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.tools.sensitive import SENSITIVE
from foldline.tools.spec import Tool
from foldline.tools.terminal.order import TerminalLimits
from foldline.tools.terminal.results import CommandResult, Status
from foldline.tools.terminal.sandbox import Mode
from foldline.tools.terminal.terminal import Terminal

TERMINAL: Final = describe_tool("terminal")

CODES: Final[Mapping[Status, ErrorCode]] = {
    "refused": ErrorCode.DENIED,
    "needs_approval": ErrorCode.NEEDS_APPROVAL,
    "timeout": ErrorCode.TIMEOUT,
    "error": ErrorCode.EXECUTION,
}


class TerminalTool:
    """
    A terminal in one workspace, and the tool with which a model uses it.

    Args:
        workspace: The directory that may be read.
        timeout: What one line may take, in seconds.
        max_output_size: The most that is read of what a line says, in bytes.
        allow_cd: Whether ``cd`` is understood.
        sandbox: What confines it; see `Terminal.open`.
        approvals: Who approves what goes beyond reading.
        visible_output: The most that a model reads at once, in characters.
        sensitive: Names of files that need the approval of a person; see `Terminal.open`.

    Raises:
        BudgetError: The workspace is none, or a number is out of range.
        NotConfined: The kernel can confine nothing here.
    """

    def __init__(
        self,
        workspace: str | os.PathLike[str] = ".",
        timeout: float = 30.0,
        max_output_size: int = 10 << 20,
        allow_cd: bool = True,
        *,
        sandbox: Mode = "auto",
        approvals: Approvals | None = None,
        visible_output: int = 30_000,
        sensitive: Sequence[str] = SENSITIVE,
    ) -> None:
        self.terminal = Terminal.open(
            workspace,
            limits=TerminalLimits(timeout, output=max_output_size, visible_output=visible_output),
            sandbox=sandbox,
            allow_cd=allow_cd,
            approvals=approvals,
            sensitive=sensitive,
        )

    def run(self, parameters: Mapping[str, Any]) -> str:
        """
        Run a command line, and return what a model reads.

        Args:
            parameters: ``{"command": …}``, or ``{"handle": …, "start": …}``.
        """
        return self.tool.run(parameters).text

    @property
    def tool(self) -> Tool:
        """The tool ``terminal``, for a registry."""
        return TERMINAL.tool(self._do, self._ado)

    def _do(self, given: dict[str, Any]) -> ToolOutput:
        command = given.get("command")
        return self._more(given) if command is None else _output(self.terminal.run(command))

    async def _ado(self, given: dict[str, Any]) -> ToolOutput:
        command = given.get("command")
        return self._more(given) if command is None else _output(await self.terminal.arun(command))

    def _more(self, given: dict[str, Any]) -> ToolOutput:
        if "handle" not in given:
            message = "Give a command, or a handle to read on in."
            return ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, message)
        try:
            found = self.terminal.more(given["handle"], given["start"])
        except RecallError as error:
            return ToolOutput.error(ErrorCode.NOT_FOUND, str(error))
        after = found.start + len(found.text)
        note = f"\n[{found.rest:,} more characters: start {after}]" if found.rest else ""
        return ToolOutput(found.text + note, data={"start": found.start, "rest": found.rest})


def _output(ran: CommandResult) -> ToolOutput:
    data = dict(ran.to_dict())
    if ran.status in CODES:
        return ToolOutput(ran.text, "error", CODES[ran.status], data)
    return ToolOutput(ran.text, "partial" if ran.truncated else "success", None, data)
