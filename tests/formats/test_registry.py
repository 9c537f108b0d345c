import pytest

from foldline.formats.registry import OnDemand

THINGS: OnDemand[object] = OnDemand(
    {"list": ("builtins", "list"), "absent": ("foldline.formats.no_such_module", "Nothing")}
)


def test_an_object_is_created_once_on_first_access():
    assert list(THINGS) == ["list", "absent"]
    assert len(THINGS) == 2
    assert THINGS["list"] == []
    assert THINGS["list"] is THINGS["list"]
    with pytest.raises(ModuleNotFoundError):
        THINGS["absent"]


def test_an_unlisted_name_is_a_key_error():
    with pytest.raises(KeyError):
        THINGS["other"]
