"""Any file content is read and written back, or raises an error that names the problem."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.formats.transcripts.editing import edit_lists, edited, messages_of
from tests.formats.transcripts.test_gemini_contents import contents
from tests.formats.transcripts.test_inspect_ai import log, sample
from tests.formats.transcripts.test_langgraph import plain, serialized
from tests.formats.transcripts.test_mini_swe_agent import trajectory
from tests.formats.transcripts.test_openhands import LOG, STEPS, condensed
from tests.formats.transcripts.test_swe_agent import function_calling, old_protocol
from tests.formats.transcripts.test_tau2 import results
from tests.formats.transcripts.test_tau_bench import EXAMPLES, run

from foldline.errors import InputError
from foldline.formats.files import file_format
from foldline.formats.source import TranscriptSource

DOCUMENTS: list[tuple[str, Any]] = [
    ("mini-swe-agent", trajectory()),
    ("swe-agent", old_protocol()),
    ("swe-agent", function_calling()),
    ("tau-bench", [run(1), run(2)]),
    ("tau2", results()),
    ("openhands", LOG),
    ("openhands", STEPS),
    ("langgraph", {"values": {"messages": plain()}}),
    ("langgraph", serialized()),
    ("inspect-ai", log(sample())),
    ("gemini-contents", contents()),
    ("wire", {"messages": run(1)["traj"]}),
]
LINES: list[tuple[str, Any]] = [
    ("openhands", condensed()),
    ("tau-bench", EXAMPLES),
    ("wire", run(1)["traj"]),
]

nested: list[Any] = ["deep"]
for _ in range(300):
    nested = [nested]
values = st.sampled_from(
    [
        *(None, True, 0, -1, 1e308, "", "x", "汉", "\ud83d", "attachment://h1"),
        *([], {}, [None], [[]], {"type": "text"}, {"text": 5}, {"id": None}, ["x"], nested),
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    out = []
    for key, inner in items:
        out.append((*path, key))
        if isinstance(inner, (dict, list)):
            out += places(inner, (*path, key))
    return out


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(document)
    inner = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return changed


def check(name: str, data: bytes) -> None:
    found = file_format(name)
    try:
        source = TranscriptSource.of(data, "file")
        found.recognises(source)
        recording = found.decode(source)
    except InputError:
        return
    assert found.encode(recording) == source.data
    for index in range(len(recording.conversations)):
        for edits in edit_lists(messages_of(recording, index)):
            edited(found, recording, edits, index)


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
@given(data=st.data())
def test_changed_documents_are_read_or_rejected(name: str, document: Any, data: Any) -> None:
    changed = put(document, data.draw(st.sampled_from(places(document))), data.draw(values))
    check(name, json.dumps(changed).encode())


@pytest.mark.parametrize(("name", "items"), LINES)
@given(data=st.data())
def test_changed_lines_are_read_or_rejected(name: str, items: list[Any], data: Any) -> None:
    changed = put(items, data.draw(st.sampled_from(places(items))), data.draw(values))
    check(name, "".join(json.dumps(item) + "\n" for item in changed).encode())


SESSIONS = {"claude-code", "codex", "pi", "gemini-cli", "aider"}


@pytest.mark.parametrize("name", sorted({name for name, _ in DOCUMENTS} | SESSIONS))
@pytest.mark.parametrize(
    "data",
    [b"{}", b"[]", b"null", b"5", b'"x"', b"[[]]", b"\xff\xfe{\0}\0", b"PK\x03\x04", b"{" * 9999],
)
def test_a_file_of_another_kind_is_an_input_error(name: str, data: bytes) -> None:
    found, source = file_format(name), TranscriptSource.of(data)
    assert found.recognises(source) == 0.0
    with pytest.raises(InputError):
        found.decode(source)
