"""
A safe terminal for agents: read-only, sandboxed, with limits.

    terminal = Terminal.open("project")
    terminal.run("git log --oneline | head -n 5").stdout
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
