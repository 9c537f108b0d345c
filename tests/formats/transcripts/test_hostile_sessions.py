"""Any session file is read and written back, or raises a clear error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.transcripts import test_claude_code, test_codex, test_gemini_cli, test_pi
from tests.formats.transcripts.test_hostile_files import check, places, put, values

BOUNDARY = {
    "type": "system",
    "subtype": "compact_boundary",
    "uuid": "b",
    "parentUuid": None,
    "logicalParentUuid": "u9",
    "compactMetadata": {"preservedMessages": {"uuids": ["u9", "u1"]}},
}
SUMMARY = test_claude_code.line(30, "user", "summary", None, parentUuid="b")
SESSIONS: list[tuple[str, list[Any]]] = [
    ("claude-code", test_claude_code.parallel()),
    ("claude-code", [*test_claude_code.parallel(), BOUNDARY, SUMMARY]),
    ("codex", test_codex.start()),
    ("codex", [*test_codex.start(), test_codex.compacted("a", "b"), test_codex.user("c")]),
    ("pi", test_pi.compacted(3)),
    ("pi", test_pi.linked(test_pi.compacted(3))),
    ("gemini-cli", [test_gemini_cli.HEADER, *test_gemini_cli.chat()]),
    (
        "gemini-cli",
        [
            test_gemini_cli.HEADER,
            {"$set": {"messages": test_gemini_cli.chat()}},
            {"$rewindTo": "3"},
        ],
    ),
]


@pytest.mark.parametrize(("name", "records"), SESSIONS)
@given(data=st.data())
def test_changed_lines_are_read_or_rejected(name: str, records: list[Any], data: Any) -> None:
    changed = put(records, data.draw(st.sampled_from(places(records))), data.draw(values))
    check(name, "".join(json.dumps(record) + "\n" for record in changed).encode())


@pytest.mark.parametrize(("name", "records"), SESSIONS)
@given(data=st.data())
def test_reordered_missing_repeated_or_truncated_lines_are_read_or_rejected(
    name: str, records: list[Any], data: Any
) -> None:
    order = data.draw(st.lists(st.sampled_from(range(len(records))), min_size=1, max_size=12))
    text = "".join(json.dumps(records[n]) + "\n" for n in order)
    cut = data.draw(st.integers(0, 40))
    check(name, (text[:-cut] if cut else text).encode() or b"{}")
