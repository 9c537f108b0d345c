from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from foldline.context import chooser
from foldline.context.chooser import Kind, choose, kind_of
from foldline.context.packets import ContextPacket

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.requirement("E2.3", "T5")
@pytest.mark.parametrize(
    ("kind", "tokens", "room", "flags", "method"),
    [
        ("prose", 100, 100, {}, "keep"),
        ("prose", 5_000, 500, {"repeated": True, "model": True}, "repeat"),
        ("code", 5_000, 30, {}, "truncate"),
        ("conversation", 5_000, 500, {"asked": False}, "window"),
        ("conversation", 5_000, 500, {"model": True}, "mixed"),
        ("prose", 1_000, 950, {"model": True}, "truncate"),
        ("log", 5_000, 500, {"model": True}, "excerpt"),
        ("data", 5_000, 500, {"asked": False}, "mixed"),
        ("prose", 5_000, 500, {"model": True}, "summary"),
        ("prose", 700, 200, {"model": True}, "excerpt"),
        ("prose", 5_000, 4_000, {"model": True}, "excerpt"),
        ("prose", 5_000, 500, {}, "excerpt"),
        ("prose", 5_000, 500, {"asked": False}, "truncate"),
    ],
)
def test_the_first_row_that_holds_decides(kind, tokens, room, flags, method):
    assert choose(kind, tokens, room, **flags).method == method


@pytest.mark.requirement("E2.3")
def test_only_prose_is_ever_put_into_other_words():
    for kind in get_args(Kind):
        for room in range(0, 6_000, 37):
            if choose(kind, 5_000, room, model=True).method == "summary":
                assert kind == "prose"


@pytest.mark.requirement("E2.3")
def test_the_table_of_the_documentation_is_that_of_the_module():
    table = [line for line in (chooser.__doc__ or "").splitlines() if line.startswith("|")]
    page = (ROOT / "docs" / "context.md").read_text(encoding="utf-8")
    assert len(table) > 8
    assert "\n".join(table) in page


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("conversation", "user: hi\nassistant: hello\nuser: and now?"),
        ("conversation", "用户: 你好\n助手: 您好\n用户: 谢谢"),
        ("log", "2025-01-01 10:00:00 start\n2025-01-01 10:00:01 stop\nERROR it broke\n"),
        ("code", "import os\n\ndef main():\n    return os.getcwd()\n"),
        ("data", "\n".join(json.dumps({"row": n, "value": n}) for n in range(5))),
        ("data", "a,b,c,d\n1,2,3,4\n5,6,7,8\n"),
        ("prose", "The team met on Monday. Nothing was decided.\nIt rained.\nThey left."),
        ("prose", "会议在周一举行。没有做出决定。\n下雨了。\n他们离开了。"),
        ("prose", ""),
    ],
)
def test_the_kind_of_a_text_is_told_by_its_lines(kind: str, text: str):
    assert kind_of(ContextPacket(text)) == kind


def test_the_type_of_a_packet_tells_its_kind_where_it_says_so():
    assert kind_of(ContextPacket("plain words", metadata={"type": "log"})) == "log"
