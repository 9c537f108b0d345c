"""
A terminal that an agent may be trusted with: read-only, confined, bounded.

    terminal = Terminal.open("project")
    terminal.run("git log --oneline | head -n 5").stdout
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.tools.terminal.confine.choose import NotConfined
    from foldline.tools.terminal.confine.order import TerminalLimits
    from foldline.tools.terminal.results import CommandResult
    from foldline.tools.terminal.terminal import Terminal
    from foldline.tools.terminal.tool import TerminalTool

_HOMES = {
    "TerminalLimits": "confine.order",
    "NotConfined": "confine.choose",
    "CommandResult": "results",
    "Terminal": "terminal",
    "TerminalTool": "tool",
}

__all__ = ["CommandResult", "NotConfined", "Terminal", "TerminalLimits", "TerminalTool"]


__getattr__, __dir__ = lazily(__name__, _HOMES)
