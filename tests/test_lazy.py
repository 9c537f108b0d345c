from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from zipfile import ZipFile

import pytest
from tests.architecture.sources import PACKAGE

from foldline.lazy import attach_stub, lazy_pattern, read_data


def test_a_lazy_pattern_matches_like_the_compiled_one():
    source, text = r"(?P<word>[a-z]+)-(\d)", "Ab-1 cd-2"
    lazy, compiled = lazy_pattern(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert lazy.findall(text) == compiled.findall(text)
        assert [m.groupdict() for m in lazy.finditer(text)] == [
            m.groupdict() for m in compiled.finditer(text)
        ]
    assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)


def test_a_lazy_pattern_is_compiled_on_first_use():
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_a_lazy_pattern_can_be_copied_and_pickled_before_its_first_use():
    lazy = lazy_pattern("b+")
    for made in (copy.copy(lazy), pickle.loads(pickle.dumps(lazy))):  # noqa: S301  # our own
        assert made.findall("abba") == ["bb"]


def test_a_first_compaction_is_loaded_without_compiling_a_pattern():
    ran = subprocess.run(
        [sys.executable, "-I", "-c", LOADING], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []


LOADING = """
import re, sys
compile = re.compile

def noted(*arguments, **flags):
    module = sys._getframe(1).f_globals["__name__"]
    if module.startswith("foldline."):
        print(module)
    return compile(*arguments, **flags)

re.compile = noted
import foldline.api
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose stub exports two names of other modules, and its own constant."""
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


def test_a_file_of_a_package_is_read_wherever_the_package_lies(tmp_path, monkeypatch):
    with ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("packed_example/__init__.py", "")
        archive.writestr("packed_example/data.txt", "words")
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    assert read_data("packed_example", "data.txt") == b"words"
    assert read_data("foldline", "py.typed") == (PACKAGE / "py.typed").read_bytes()
    with pytest.raises(OSError, match="nothing"):
        read_data("packed_example", "nothing.txt")
