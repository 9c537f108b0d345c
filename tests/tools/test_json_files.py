"""Lines are appended atomically and durably, and an invalid file is an error."""

import json
import os

import pytest

from foldline.errors import StoreError
from foldline.tools.json_files import append_line, read_lines, read_value


def test_a_line_that_a_crash_cut_off_is_ended_before_the_next_one(tmp_path):
    path = tmp_path / "log"
    append_line(path, {"n": 1}, "log")
    with path.open("ab") as file:
        file.write(b'{"n": 2')
    append_line(path, {"n": 3}, "log")
    assert read_lines(path, "log", hint="") == [b'{"n": 1}', b'{"n": 2', b'{"n": 3}']


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "log")
    with pytest.raises(StoreError, match=r"The log .* cannot be written"):
        append_line(tmp_path / "link", {}, "log")
    assert not (tmp_path / "log").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_a_file_that_may_only_be_written_is_added_to(tmp_path):
    path = tmp_path / "log"
    append_line(path, {"n": 1}, "log")
    path.chmod(0o200)
    append_line(path, {"n": 2}, "log")
    path.chmod(0o600)
    assert read_lines(path, "log", hint="") == [b'{"n": 1}', b'{"n": 2}']


def test_lines_beyond_the_bound_are_an_error(tmp_path):
    (tmp_path / "log").write_text("x\n" * (1 << 20))
    with pytest.raises(StoreError, match=r"more than 1 MB. Move it away."):
        read_lines(tmp_path / "log", "log", most=1 << 20, hint="Move it away.")
    assert read_lines(tmp_path / "none", "log", hint="") == []


def test_a_value_is_read_by_its_schema(tmp_path):
    path = tmp_path / "value.json"
    assert read_value(path, "value", "v/1", dict) is None
    path.write_text(json.dumps({"schema": "v/1", "n": 1}))
    assert read_value(path, "value", "v/1", lambda value: value["n"]) == 1
    for schema, bound in (("v/2", 100), ("v/1", 10)):
        with pytest.raises(StoreError, match="is not a value"):
            read_value(path, "value", schema, dict, bound)
    with pytest.raises(StoreError, match="is not a value"):
        read_value(path, "value", "v/1", lambda value: value["gone"])
