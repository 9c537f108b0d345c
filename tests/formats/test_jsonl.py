from __future__ import annotations

import pytest

from foldline.errors import InputError
from foldline.formats.jsonl import at_line, read_lines
from foldline.formats.source import TranscriptSource


def test_a_new_line_is_written_like_its_neighbour() -> None:
    lines, _, _ = read_lines(
        TranscriptSource.of('{"a": "é"}\r\n{"a":"\\u00e9汉"}\n{"a":"x"}'.encode())
    )
    assert lines.write({"b": ["é"]}, like=0) == '{"b": ["é"]}\r\n'.encode()
    assert lines.write({"b": ["é"]}, like=2) == '{"b":["é"]}'.encode()
    assert lines.write({"b": "\ud83d"}, like=2) == b'{"b":"\\ud83d"}'


def test_joined_lines_stay_separate() -> None:
    lines, _, _ = read_lines(TranscriptSource.of(b'\xef\xbb\xbf{"a":1}\n{"b":2}'))
    assert lines.assemble([b'{"b":2}', b'{"c":3}']) == b'\xef\xbb\xbf{"b":2}\n{"c":3}'
    assert lines.assemble(lines.data) == b'\xef\xbb\xbf{"a":1}\n{"b":2}'


def test_unreadable_lines_are_listed_up_to_a_limit() -> None:
    _, objects, warnings = read_lines(TranscriptSource.of(b'{"a":1}\n\n[1]\nx\n'))
    assert objects == [{"a": 1}, None, None, None]
    assert [warning.split(" is ")[0] for warning in warnings] == ["line 3", "line 4"]
    _, _, warnings = read_lines(TranscriptSource.of(b"x\n" * 1000))
    assert len(warnings) == 21
    assert warnings[-1] == "980 more lines are not JSON objects"


def test_an_error_about_a_message_names_its_line() -> None:
    with pytest.raises(InputError) as caught, at_line([4, 7]):
        raise InputError("expected a string", index=1, field="content", hint="Mend it.")
    assert str(caught.value) == "line 8, message 1, field content: expected a string. Mend it."
    assert (caught.value.index, caught.value.field) == (1, "content")
    with pytest.raises(InputError, match="whole"), at_line([]):
        raise InputError("whole")
