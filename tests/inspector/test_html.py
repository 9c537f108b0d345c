from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import FoldlineError
from foldline.inspector.html import Html, h, join, visible


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.words += data


def read(text: str) -> _Reader:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader


@given(st.text(max_size=200))
def test_no_text_becomes_a_tag(text: str) -> None:
    tags = [tag for tag, attrs in read(h("p", text)).tags if ("class", "control") not in attrs]
    assert tags == ["p"]


@given(st.text(max_size=200))
def test_no_value_leaves_its_attribute(text: str) -> None:
    ((tag, attributes),) = read(h("p", title=text)).tags
    assert tag == "p"
    assert [name for name, _ in attributes] == ["title"]


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=80))
def test_plain_words_are_read_as_they_were_written(text: str) -> None:
    assert read(visible(text)).words == text or "\uf8ff" in text


@pytest.mark.parametrize("code", [0, 7, 0x1B, 0x7F, 0x200B, 0x202E, 0x2066, 0xFEFF, 0xF8FF])
def test_invisible_characters_are_named(code: int) -> None:
    shown = visible(f"a{chr(code)}b")
    assert chr(code) not in shown
    assert f"U+{code:04X}" in shown
    assert chr(code) not in h("p", title=chr(code)) or code == 0xF8FF


@pytest.mark.parametrize("name", ["onclick", "onload", "style"])
def test_no_element_acts_by_itself(name: str) -> None:
    with pytest.raises(FoldlineError, match=name):
        h("p", **{name: "x"})


def test_numbers_lists_and_nothing_are_children_too() -> None:
    assert h("p", 1200, None, ["a", h("b", "c")]) == "<p>1,200a<b>c</b></p>"
    assert join("<", Html("<hr>")) == "&lt;<hr>"
    assert h("input", disabled=True, hidden=False, name="q") == '<input disabled name="q">'
