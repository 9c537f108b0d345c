"""What this package exports; `foldline.lazy` loads the names from here."""

from foldline.strategies.observation import truncate_observation as truncate_observation
from foldline.tools.approvals import Approvals as Approvals
from foldline.tools.functions import tool_from_function as tool_from_function
from foldline.tools.journal import Journal as Journal
from foldline.tools.knowledge import RAGTool as RAGTool
from foldline.tools.memory import MemoryTool as MemoryTool
from foldline.tools.notes import NoteTool as NoteTool
from foldline.tools.output import ErrorCode as ErrorCode
from foldline.tools.output import ToolOutput as ToolOutput
from foldline.tools.permissions import FULL as FULL
from foldline.tools.permissions import READ_ONLY as READ_ONLY
from foldline.tools.permissions import Permissions as Permissions
from foldline.tools.permissions import ToolView as ToolView
from foldline.tools.recall import compact_tool as compact_tool
from foldline.tools.recall import recall_tool as recall_tool
from foldline.tools.recall import session_tools as session_tools
from foldline.tools.registry import ToolRegistry as ToolRegistry
from foldline.tools.replacements import Replacement as Replacement
from foldline.tools.skills import Skills as Skills
from foldline.tools.spec import Tool as Tool
from foldline.tools.spec import Toolbox as Toolbox
from foldline.tools.terminal import Terminal as Terminal
from foldline.tools.terminal import TerminalTool as TerminalTool
from foldline.tools.todo import Todo as Todo
from foldline.tools.todo import TodoTool as TodoTool
from foldline.tools.toolset import CombinedToolset as CombinedToolset
from foldline.tools.toolset import Toolset as Toolset
from foldline.tools.toolset import ToolSettings as ToolSettings
from foldline.tools.workspace import FileBounds as FileBounds
from foldline.tools.workspace import Workspace as Workspace
from foldline.tools.workspace import file_tools as file_tools

__all__: list[str]
