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
    A terminal in one workspace, with a tool for models.

    Args:
        workspace: The readable directory.
        timeout: The timeout of a line in seconds.
        max_output_size: The maximum output of a line in bytes.
        allow_cd: Allow ``cd``.
        sandbox: The confinement; see `Terminal.open`.
        approvals: Approves commands that do more than read.
        visible_output: The maximum output returned to a model, in characters.
        sensitive: Patterns of files that require an approval; see `Terminal.open`.

    Raises:
        BudgetError: The workspace is invalid, or a number is out of range.
        NotConfined: No sandbox is available here.
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
        Run a command line, and return the text for a model.

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
            message = "Give a command, or the handle of an output."
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
