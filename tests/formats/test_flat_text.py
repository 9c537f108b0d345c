from __future__ import annotations

from foldline.formats.flat_text import flat_text
from foldline.values.messages import Media, Omitted, Opaque, Text, Thinking, ToolCall


def test_parts_become_what_a_reader_sees_of_them() -> None:
    parts = [
        Thinking("hidden"),
        Text("one"),
        Media("image", "image/png"),
        Media("audio"),
        Opaque("search", "two"),
        Opaque("compaction"),
        ToolCall("c", "f", "{}"),
        Omitted("clear"),
    ]
    assert flat_text(parts) == "one\n[image image/png]\n[audio]\ntwo\n[compaction]"
    assert flat_text([]) == ""
