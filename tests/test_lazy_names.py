from __future__ import annotations

import sys

import pytest
from tests.architecture.sources import PACKAGE

from foldline.lazy_names import attach_stub


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose stub exports two names of other modules, and a constant of its own."""
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "__init__.pyi").write_text(
        "from foldline.values.view import View as View\n"
        "from foldline.values.messages import Text as Text\n"
        "VERSION: str\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield folder.name
    sys.modules.pop(folder.name, None)


def test_a_name_is_loaded_from_the_module_that_the_stub_imports_it_from(package):
    from foldline.values.messages import Text

    load, names = attach_stub(package)
    assert load("Text") is Text
    assert names() == load("__all__") == ["Text", "View"]


def test_another_name_is_an_attribute_error_that_names_the_package(package):
    load, _ = attach_stub(package)
    with pytest.raises(AttributeError, match=r"module 'lazy_example' has no attribute 'Nothing'"):
        load("Nothing")


def test_every_name_of_every_stub_is_found():
    stubs = sorted(PACKAGE.rglob("__init__.pyi"))
    assert len(stubs) > 5
    for stub in stubs:
        package = ".".join(("foldline", *stub.parent.relative_to(PACKAGE).parts))
        load, names = attach_stub(package)
        assert names()
        for name in names():
            assert load(name) is not None
