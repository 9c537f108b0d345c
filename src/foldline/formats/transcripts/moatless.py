"""
Moatless trajectories: a tree of nodes, each with the Anthropic request that it was built from.

The conversation is the request of the newest node, which repeats those before it.
"""

from __future__ import annotations

from typing import Any

from foldline.errors import InputError
from foldline.formats.anthropic import AnthropicDialect
from foldline.formats.json_document import Path, at, read_recording, write_recording
from foldline.formats.recording import Recording
from foldline.formats.source import TranscriptSource

_ANTHROPIC = AnthropicDialect()


class Moatless:
    """The ``trajectory.json`` of moatless-tools."""

    name = "moatless"
    title = "Moatless trajectory (.json)"

    def recognises(self, source: TranscriptSource) -> float:
        """Look for nodes of which one holds a request."""
        return 1.0 if _path(source.document) else 0.0

    def decode(self, source: TranscriptSource) -> Recording:
        """Read the request of the newest node."""
        path = _path(source.document)
        if not path:
            raise InputError("the document holds no request of Moatless", field="nodes")
        body = {"messages": at(source.document, path)}
        system = at(source.document, ("agent", "system_prompt"))
        if isinstance(system, str):
            body["system"] = system
        title = at(source.document, ("metadata", "instance_id"))
        name = title if isinstance(title, str) and title else "trajectory"
        return read_recording(self.name, source, [(name, path, _ANTHROPIC.decode(body))])

    def encode(self, recording: Recording) -> bytes:
        """Write the request again."""
        return write_recording(recording, lambda _, __, there: _ANTHROPIC.messages(there.messages))


def _path(document: Any) -> Path:
    nodes = at(document, ("nodes",))
    for index in range(len(nodes) - 1, -1, -1) if isinstance(nodes, list) else ():
        path: Path = ("nodes", index, "completions", "build_action", "input")
        if isinstance(at(document, path), list):
            return path
    return ()
