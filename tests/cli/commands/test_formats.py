from __future__ import annotations

import json

from tests.cli.sample import foldline

from foldline.formats.files import FILE_FORMATS
from foldline.formats.registry import DIALECTS


def test_every_format_is_listed() -> None:
    shown = foldline("formats").stdout
    assert all(name in shown for name in (*FILE_FORMATS, *DIALECTS))


def test_json_lists_names_that_the_options_take() -> None:
    told = json.loads(foldline("formats", "--json").stdout)
    assert told["schema"] == "foldline.formats/1"
    assert [row["name"] for row in told["wire"]] == list(DIALECTS)
    assert [row["name"] for row in told["files"]] == list(FILE_FORMATS)
