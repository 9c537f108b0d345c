"""Tools that read and change files inside one folder."""

from __future__ import annotations

from foldline.tools.files.patching import Replacement
from foldline.tools.files.spec import file_tools
from foldline.tools.files.workspace import FileBounds, Workspace

__all__ = ["FileBounds", "Replacement", "Workspace", "file_tools"]
