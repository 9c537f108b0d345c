"""What a user can reach: one sorted list of names, every one of them described."""

from __future__ import annotations

import ast
import inspect

import pytest
from tests.architecture.sources import ROOT, modules, relative, tree

import foldline

VAGUE = ("utils", "util", "helpers", "helper", "common", "manager", "base", "misc")


def test_the_public_names_are_listed_once_and_sorted():
    assert foldline.__all__ == sorted(foldline.__all__)
    assert len(set(foldline.__all__)) == len(foldline.__all__)


def test_every_listed_name_is_found_where_it_is_said_to_be():
    assert dir(foldline) == foldline.__all__
    assert foldline.__version__
    for name in foldline.__all__:
        assert getattr(foldline, name).__name__ == name


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="compakt"):
        _ = foldline.compakt


@pytest.mark.parametrize("name", foldline.__all__)
def test_every_public_object_and_each_of_its_methods_says_what_it_does(name):
    thing = getattr(foldline, name)
    assert (inspect.getdoc(thing) or "").strip()
    for member, value in vars(thing).items() if inspect.isclass(thing) else ():
        if member.startswith("_") or not (inspect.isroutine(value) or isinstance(value, property)):
            continue
        assert (inspect.getdoc(value) or "").strip(), f"{name}.{member} has no docstring"


@pytest.mark.parametrize("name", foldline.__all__)
def test_every_public_name_is_in_the_readme(name):
    assert f"`{name}`" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_no_file_has_a_name_that_says_nothing():
    vague = [relative(path) for path in modules() if path.stem.strip("_") in VAGUE]
    assert vague == []


def test_every_module_says_why_it_exists():
    silent = [
        relative(path)
        for path in modules()
        if not path.read_text("utf-8").lstrip().startswith('"')
    ]
    assert silent == []


def test_no_public_class_has_the_name_of_another():
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(relative(path))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}
