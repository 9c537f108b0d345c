from __future__ import annotations

from types import SimpleNamespace

import pytest

from foldline.formats.langchain import LangChainDialect


class Slotted:
    __slots__ = ("label",)
    type = "human"

    def __init__(self, label: str) -> None:
        self.label = label

    @property
    def content(self) -> str:
        return self.label


@pytest.mark.parametrize("thing", [SimpleNamespace(type="human", content="hi"), Slotted("hi")])
def test_objects_of_other_libraries_are_read_with_slots_or_properties(thing: object) -> None:
    transcript = LangChainDialect().decode([thing])
    assert transcript.messages[0].text == "hi"
    assert LangChainDialect().encode(transcript)[0] is thing
