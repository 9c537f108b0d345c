from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.notes import markdown_file
from foldline.notes.markdown_file import LARGEST_HEAD, format_file, parse_file, patch_file
from foldline.notes.note import BrokenNote

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
VALUES = st.one_of(TEXT, st.lists(TEXT, max_size=5))
NAMES = st.from_regex(r"[a-z]{1,8}", fullmatch=True)

BY_HAND = b"""---
# who reads this?
id: X1          # never change it
title: Old
mine:
    nested: [1, two]
    # deep
tags:
  - a
  - b

# at the end
owner: me
---

Body
"""


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), TEXT)
def test_any_written_value_is_read_back(fields: dict[str, object], body: str) -> None:
    page = parse_file(format_file(fields, body))
    assert page.fields == fields
    assert page.body == body


@pytest.mark.requirement("T6")
@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=6), NAMES, st.none() | VALUES, TEXT)
def test_a_change_changes_nothing_else(
    fields: dict[str, object], name: str, value: object, body: str
) -> None:
    there = {"first": "1", **fields}
    page = parse_file(patch_file(parse_file(format_file(there, "old")), {name: value}, body))
    wanted = {k: v for k, v in {**there, name: value}.items() if v is not None}
    assert (page.fields, page.body) == (wanted, body)


@pytest.mark.requirement("T6")
def test_text_of_a_person_stays_unchanged_in_place() -> None:
    new = patch_file(
        parse_file(BY_HAND), {"title": "New: title", "tags": ["c"], "more": "x"}, "Body"
    )
    assert new.decode() == BY_HAND.decode().replace("title: Old", "title: 'New: title'").replace(
        "tags:\n  - a\n  - b\n", "tags: [c]\n"
    ).replace("owner: me\n", "owner: me\nmore: x\n")


def test_values_are_the_letters_that_were_typed() -> None:
    page = parse_file(
        b"---\na: yes\nb: 2025-01-19\nc: 0x1F\nd: !!python/object:os.system x\n---\n\n\n"
    )
    assert page.fields == {"a": "yes", "b": "2025-01-19", "c": "0x1F", "d": "x"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_body_is_kept_to_the_letter(end: str) -> None:
    page = parse_file(f"---{end}id: a{end}---{end}{end} one{end}---{end}two {end}{end}".encode())
    assert page.body == f" one{end}---{end}two {end}"


def test_a_header_in_one_line_can_be_changed_too() -> None:
    page = parse_file(b"---\n{id: a, title: b}\n---\n\nx\n")
    assert parse_file(patch_file(page, {"title": "c"}, "x")).fields == {"id": "a", "title": "c"}


@pytest.mark.requirement("T6")
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no front matter"),
        (b"# a file of somebody\n", "no front matter"),
        (b"---\nid: a\n", "no front matter"),
        (b"---\n- a\n---\n", "not a mapping"),
        (b"---\n---\n", "not a mapping"),
        (b"---\nid: [\n---\n", "not YAML"),
        (b"---\nid: a\nid: b\n---\n", "'id' twice"),
        (b"---\na: &x [1]\nb: *x\n---\n", "anchors"),
        (b"---\na: 1\n--- \nb: 2\n", None),
        (b"---\na: 1\n--- b\n---\n", "two documents"),
        (b"---\na: " + b"[" * 50_000 + b"\n---\n", "nested|YAML"),
        (b"---\na: " + b"- " * 50_000 + b"\n---\n", "nested|YAML"),
        (b"---\na: [" + b"1," * 20_000 + b"]\n---\n", "10,000 values"),
        (b"---\na: " + b"x" * LARGEST_HEAD + b"\n---\n", "no front matter"),
        (b"---\n[a]: 1\n---\n", "not text"),
        (b"---\nid: \xff\n---\n", "UTF-8"),
        (b"---\nid: a\x00\n---\n", "YAML"),
    ],
)
def test_an_unreadable_file_is_reported_cheaply(data: bytes, why: str | None) -> None:
    if why is None:
        assert parse_file(data).fields == {"a": "1"}
        return
    with pytest.raises(BrokenNote, match=why):
        parse_file(data)


@pytest.mark.requirement("T6")
@pytest.mark.parametrize("head", ["{\nid: X1,\ntitle: Old\n}\n", "  id: X1\n  title: Old\n"])
def test_indented_fields_can_be_changed(head: str) -> None:
    page = parse_file(f"---\n{head}---\n\nBody\n".encode())
    after = parse_file(patch_file(page, {"title": "New"}, page.body))
    assert after.fields == {"id": "X1", "title": "New"}
    assert after.body == "Body"


def test_front_matter_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[object] = []

    class Counting(markdown_file._LOADER):  # type: ignore[misc]  # Any
        def __init__(self, stream: str) -> None:
            parsers.append(self)
            super().__init__(stream)

    monkeypatch.setattr(markdown_file, "_LOADER", Counting)
    fields = parse_file(BY_HAND).fields
    assert fields["mine"] == {"nested": ["1", "two"]}
    assert fields["tags"] == ["a", "b"]
    assert len(parsers) == 1
