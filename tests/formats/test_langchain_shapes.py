from __future__ import annotations

from types import SimpleNamespace

import pytest

from foldline.formats.langchain import LangChainDialect


class Slotted:
    __slots__ = ("said",)
    type = "human"

    def __init__(self, said: str) -> None:
        self.said = said

    @property
    def content(self) -> str:
        return self.said


@pytest.mark.parametrize("thing", [SimpleNamespace(type="human", content="hi"), Slotted("hi")])
def test_objects_of_other_libraries_are_read_however_they_hold_their_fields(thing: object) -> None:
    transcript = LangChainDialect().decode([thing])
    assert transcript.messages[0].text == "hi"
    assert LangChainDialect().encode(transcript)[0] is thing
