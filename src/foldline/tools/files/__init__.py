"""Tools that read and change files inside one folder."""

from __future__ import annotations

from foldline.tools.files.file_tools import file_tools
from foldline.tools.files.workspace import FileBounds, Replacement, Workspace

__all__ = ["FileBounds", "Replacement", "Workspace", "file_tools"]
