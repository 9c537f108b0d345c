"""
Structured notes: Markdown files that people can edit, with levels, search, and a task graph.

    from foldline.notes import Notes
    notes = Notes.open("project_notes")
    notes.create("Login fails", "Since 1.4 …", type="blocker")
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
