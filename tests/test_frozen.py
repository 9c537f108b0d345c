"""Values are immutable, compare by their fields, and are data classes to other code."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from functools import cached_property
from typing import Any, ClassVar, get_type_hints

import pytest

from foldline.frozen import field, fields, frozen, replace, to_dict


@frozen
class Point:
    kind: ClassVar[str] = "point"
    x: int
    y: int = 0
    names: tuple[str, ...] = ()
    raw: Any = field(default=None, compare=False, repr=False)
    notes: dict[str, int] = field(default_factory=dict, hash=False)

    @cached_property
    def size(self) -> int:
        return self.x + self.y


@frozen
class Named(Point):
    y: int = 7
    name: str = ""

    def __post_init__(self) -> None:
        if self.name == "forbidden":
            raise ValueError(self.name)


def test_values_are_given_by_position_by_name_or_by_default():
    assert Point(1, 2) == Point(x=1, y=2) == Point(1, y=2)
    assert (Point(1).y, Point(1).names, Point(1).notes) == (0, (), {})
    assert Point(1).notes is not Point(1).notes


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        ((), {}, "needs a value for 'x'"),
        ((1, 2, (), None, {}, 6), {}, "has 5 fields, not 6"),
        ((1,), {"z": 1}, "takes no 'z'"),
        ((1,), {"x": 1}, "takes no 'x', or has been given it"),
        ((1, 2, (), None, {}), {"y": 1}, "takes no 'y', or has been given it"),
    ],
)
def test_wrong_arguments_are_named(values, named, words):
    with pytest.raises(TypeError, match=words):
        Point(*values, **named)


def test_a_value_is_immutable_but_caches_computed_properties():
    point = Point(1, 2)
    for change in (lambda: setattr(point, "x", 2), lambda: delattr(point, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError, match="field 'x'"):
            change()
    assert (point.size, point.size) == (3, 3)
    assert not hasattr(Named(1), "other")
    with pytest.raises(AttributeError):
        object.__setattr__(frozen(type("Bare", (), {"__annotations__": {}}))(), "x", 1)


def test_values_compare_and_hash_by_the_fields_that_count():
    assert Point(1, raw=2) == Point(1, raw=3)
    assert hash(Point(1, notes={"a": 1})) == hash(Point(1))
    assert Point(1, notes={"a": 1}) != Point(1)
    assert Point(1) != Named(1, 0)
    assert Point(1) != 1
    assert repr(Point(1)) == "Point(x=1, y=0, names=(), notes={})"


def test_a_subclass_adds_fields_changes_defaults_and_checks_itself():
    assert [one.name for one in fields(Named)] == ["x", "y", "names", "raw", "notes", "name"]
    assert Named(1).y == 7
    with pytest.raises(ValueError, match="forbidden"):
        Named(1, name="forbidden")


def test_a_copy_has_other_values_in_some_fields():
    assert replace(Named(1, name="a"), y=3) == Named(1, 3, name="a")
    with pytest.raises(TypeError, match="takes no 'z'"):
        replace(Point(1), z=1)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Other:
    x: int
    y: int = 0


def test_a_copy_may_be_of_any_data_class():
    assert replace(Other(x=1, y=2), y=3) == Other(x=1, y=3)


def test_values_are_data_classes_to_other_code():
    point = Point(1, 2, ("a",))
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.replace(point, y=3) == Point(1, 3, ("a",))
    assert dataclasses.asdict(point) == {
        "x": 1,
        "y": 2,
        "names": ("a",),
        "raw": None,
        "notes": {},
    }
    assert [one.name for one in dataclasses.fields(Point)] == [one.name for one in fields(Point)]
    assert [one.type for one in dataclasses.fields(Point)][:2] == ["int", "int"]
    assert set(get_type_hints(Point)) == {"kind", *Point.__match_args__}
    assert str(inspect.signature(Point)).startswith("(x: 'int', y: 'int' = 0, names:")
    assert point.__replace__(y=3) == Point(1, 3, ("a",))  # what `copy.replace` calls
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_values_are_copied_and_pickled():
    point = Point(1, 2, ("a",), raw=[1])
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):  # noqa: S301
        assert twin == point
        assert twin.raw == [1]


@dataclasses.dataclass(frozen=True)
class Marked(Point):
    mark: str = "!"


class Doubled(Point):
    def __init__(self, half: int) -> None:
        super().__init__(2 * half)
        object.__setattr__(self, "half", half)


def test_other_classes_inherit_from_values():
    marked = Marked(1, mark="?")
    assert (marked, marked.y, repr(marked)) == (Marked(1, mark="?"), 0, repr(marked))
    assert "mark='?'" in repr(marked)
    assert pickle.loads(pickle.dumps(marked)) == marked  # noqa: S301
    twin = copy.copy(Doubled(3))
    assert (twin.x, twin.half) == (6, 3)
    assert list(inspect.signature(Doubled).parameters) == ["half"]


def declare(body: dict[str, Any], **annotations: str) -> type:
    return frozen(type("Bad", (), {"__annotations__": annotations, **body}))


def test_an_invalid_class_is_rejected_at_definition():
    with pytest.raises(ValueError, match="x needs a default_factory"):
        declare({"x": []}, x="list[int]")
    with pytest.raises(TypeError, match="'y' without a default follows 'x'"):
        declare({"x": 1}, x="int", y="int")
    with pytest.raises(TypeError, match="x is described by the field of another module"):
        declare({"x": dataclasses.field(default=1)}, x="int")
    assert fields(declare({}, x="typing.ClassVar[int]")) == ()


def test_values_become_json_values():
    assert to_dict(Point(1, raw=(Point(2), {"in": Point(3)}))) == {
        "x": 1,
        "y": 0,
        "names": [],
        "raw": [to_dict(Point(2)), {"in": to_dict(Point(3))}],
        "notes": {},
    }
    assert fields(3) == ()
