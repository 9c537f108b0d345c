from __future__ import annotations

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
