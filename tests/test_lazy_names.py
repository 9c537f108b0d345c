from __future__ import annotations

from importlib import import_module

import pytest

from foldline.lazy_names import lazily

load, names = lazily("foldline", {"Text": "values.messages", "View": "values.view"})


def test_a_name_is_loaded_from_the_module_that_holds_it():
    from foldline.values.messages import Text

    assert load("Text") is Text
    assert names() == ["Text", "View"]


def test_another_name_is_an_attribute_error_that_names_the_package():
    with pytest.raises(AttributeError, match=r"module 'foldline' has no attribute 'Nothing'"):
        load("Nothing")


@pytest.mark.parametrize("package", ["agents", "agents.maintainer", "notes", "testing", "tools"])
def test_every_name_that_type_checkers_see_in_a_package_is_there(package):
    module = import_module(f"foldline.{package}")
    assert module.__all__ == dir(module) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match=rf"'foldline.{package}' has no attribute 'Nothing'"):
        _ = module.Nothing
