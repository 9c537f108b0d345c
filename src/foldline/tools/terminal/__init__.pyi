"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.tools.terminal.order import TerminalLimits as TerminalLimits
from foldline.tools.terminal.results import CommandResult as CommandResult
from foldline.tools.terminal.results import OutputStore as OutputStore
from foldline.tools.terminal.sandbox import NotConfined as NotConfined
from foldline.tools.terminal.terminal import Terminal as Terminal
from foldline.tools.terminal.tool import TerminalTool as TerminalTool

__all__: list[str]
