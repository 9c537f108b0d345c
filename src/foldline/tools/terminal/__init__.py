"""
A terminal that an agent may be trusted with: read-only, confined, bounded.

    terminal = Terminal.open("project")
    terminal.run("git log --oneline | head -n 5").stdout
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import export_lazily

if TYPE_CHECKING:
    from foldline.tools.terminal.confine.choose import NotConfined as NotConfined
    from foldline.tools.terminal.confine.order import TerminalLimits as TerminalLimits
    from foldline.tools.terminal.results import CommandResult as CommandResult
    from foldline.tools.terminal.terminal import Terminal as Terminal
    from foldline.tools.terminal.tool import TerminalTool as TerminalTool

__getattr__, __dir__, __all__ = export_lazily(__name__)
