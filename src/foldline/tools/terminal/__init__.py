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
    from foldline.tools.terminal.limits import Limits
    from foldline.tools.terminal.ran import Ran
    from foldline.tools.terminal.terminal import Terminal
    from foldline.tools.terminal.tool import TerminalTool

_HOMES = {
    "Limits": "limits",
    "NotConfined": "confine.choose",
    "Ran": "ran",
    "Terminal": "terminal",
    "TerminalTool": "tool",
}

__all__ = ["Limits", "NotConfined", "Ran", "Terminal", "TerminalTool"]


__getattr__, __dir__ = lazily(__name__, _HOMES)
