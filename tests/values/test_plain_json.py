from __future__ import annotations

import json
from collections import OrderedDict
from enum import StrEnum
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foldline.values.plain_json import DEEPEST, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def refuse(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError


METHODS = ("__str__", "__eq__", "__len__", "__iter__", "__getitem__", "__contains__", "encode")
Stubborn = type("Stubborn", (str,), {**dict.fromkeys(METHODS, refuse), "__hash__": refuse})


class Members(dict[str, Any]):
    __getitem__ = get = items = keys = __iter__ = __len__ = refuse


class Items(list[Any]):
    __getitem__ = __iter__ = __len__ = refuse


class Role(StrEnum):
    USER = "user"


@given(JSON)
def test_a_plain_value_is_returned_itself(value: Any) -> None:
    assert plain(value) is value


@given(JSON)
def test_a_converted_value_stays_equal(value: Any) -> None:
    made = plain([Stubborn("text"), value, OrderedDict(a=value)])
    assert made == ["text", value, {"a": value}]
    assert [type(item) for item in (made[0], made[2])] == [str, dict]
    assert made[1] is value


def test_objects_whose_methods_raise_become_plain_content() -> None:
    value = Members(role=Stubborn("user"), content=Items([{"type": Stubborn("text")}]))
    assert json.dumps(plain(value)) == '{"role": "user", "content": [{"type": "text"}]}'
    assert type(plain({Role.USER: 1}).popitem()[0]) is str


def test_values_that_are_not_json_are_unchanged() -> None:
    held = object()
    assert plain(held) is held
    assert plain([held, Stubborn("a")])[0] is held


def test_deep_values_do_not_overflow_the_stack() -> None:
    deep: list[Any] = []
    for _ in range(50 * DEEPEST):
        deep = [deep]
    assert plain(deep) is deep
