"""
Tools that an agent may call, written once for every provider.

    tools = Toolbox(session_tools(session))
    client.messages.create(tools=tools.schemas("anthropic"), messages=session.view(), ...)
    output = tools.run(call.name, call.input)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.strategies.observation import truncate_observation
    from foldline.tools.approvals import Approvals
    from foldline.tools.compact import compact_tool
    from foldline.tools.files import Workspace, file_tools
    from foldline.tools.functions import tool_from_function
    from foldline.tools.journal import Journal
    from foldline.tools.knowledge import RAGTool
    from foldline.tools.memory import MemoryTool
    from foldline.tools.notes import NoteTool
    from foldline.tools.output import ErrorCode, ToolOutput
    from foldline.tools.permissions import FULL, READ_ONLY, Permissions, ToolView
    from foldline.tools.recall import recall_tool, session_tools
    from foldline.tools.registry import ToolRegistry
    from foldline.tools.skills import Skills
    from foldline.tools.spec import Tool, Toolbox
    from foldline.tools.terminal import Terminal, TerminalTool
    from foldline.tools.todo import Todo, TodoTool
    from foldline.tools.toolset import CombinedToolset, Toolset, ToolSettings

_HOMES = {
    "Approvals": "approvals",
    "ErrorCode": "output",
    "FULL": "permissions",
    "Journal": "journal",
    "MemoryTool": "memory",
    "NoteTool": "notes",
    "Permissions": "permissions",
    "RAGTool": "knowledge",
    "READ_ONLY": "permissions",
    "CombinedToolset": "toolset",
    "Skills": "skills",
    "Terminal": "terminal",
    "TerminalTool": "terminal",
    "Todo": "todo",
    "TodoTool": "todo",
    "Tool": "spec",
    "ToolOutput": "output",
    "ToolRegistry": "registry",
    "ToolSettings": "toolset",
    "ToolView": "permissions",
    "Toolbox": "spec",
    "Toolset": "toolset",
    "Workspace": "files",
    "compact_tool": "compact",
    "file_tools": "files",
    "recall_tool": "recall",
    "session_tools": "recall",
    "tool_from_function": "functions",
    "truncate_observation": ".strategies.observation",
}

__all__ = [
    "FULL",
    "READ_ONLY",
    "Approvals",
    "CombinedToolset",
    "ErrorCode",
    "Journal",
    "MemoryTool",
    "NoteTool",
    "Permissions",
    "RAGTool",
    "Skills",
    "Terminal",
    "TerminalTool",
    "Todo",
    "TodoTool",
    "Tool",
    "ToolOutput",
    "ToolRegistry",
    "ToolSettings",
    "ToolView",
    "Toolbox",
    "Toolset",
    "Workspace",
    "compact_tool",
    "file_tools",
    "recall_tool",
    "session_tools",
    "tool_from_function",
    "truncate_observation",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
