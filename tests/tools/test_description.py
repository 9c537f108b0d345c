"""All tool descriptions are in one file, and each of its tables makes a tool."""

import tomllib
from importlib.resources import files
from typing import get_args

import pytest

from foldline.agents.maintainer.knowledge import AUTHORITIES, VOLATILITIES
from foldline.memory.chunk import Kind
from foldline.memory.items import Kind as MemoryKind
from foldline.notes import KINDS, LEVELS, STATUSES
from foldline.tools import MemoryTool, RAGTool, ToolOutput
from foldline.tools.arguments import check_schema
from foldline.tools.description import ToolDescription, describe_tool

PACKAGES = ("foldline.tools", "foldline.agents")
NAMES = [
    (package, name)
    for package in PACKAGES
    for name in tomllib.loads(files(package).joinpath("tools.toml").read_text("utf-8"))
]


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_every_table_makes_a_tool_with_a_description(package, name):
    described = describe_tool(name, package)
    tool = described.tool(lambda _: ToolOutput("done"))
    assert tool.description == tool.description.strip() != ""
    for schema in described.arguments.values():
        check_schema(schema)


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_required_arguments_and_actions_are_described(package, name):
    described = describe_tool(name, package)
    assert set(described.required) <= set(described.arguments)
    if described.actions:
        taken = {one.rstrip("!") for line in described.actions.values() for one in line.split()}
        assert taken == set(described.arguments)
        assert set(described.models) <= set(described.actions)


def test_a_model_sees_the_arguments_of_the_actions_that_it_may_choose():
    described = ToolDescription(
        "box",
        "A box.",
        {"what": {"type": "string"}, "sure": {"type": "boolean"}},
        actions={"put": "what!", "empty": "sure!"},
        models=("put",),
    )
    known = described.parameters["properties"]
    assert list(known) == ["action", "what"]
    assert known["action"]["enum"] == ["put"]


@pytest.mark.parametrize(
    ("name", "argument", "known"),
    [
        ("note", "note_type", KINDS),
        ("note", "level", LEVELS),
        ("note", "status", STATUSES),
        ("knowledge", "kind", get_args(Kind)),
        ("memory", "memory_type", get_args(MemoryKind)),
        ("record", "type", KINDS),
        ("record", "authority", AUTHORITIES),
        ("record", "volatility", VOLATILITIES),
    ],
)
def test_an_enum_lists_all_choices(name, argument, known):
    package = "foldline.agents" if name == "record" else "foldline.tools"
    assert describe_tool(name, package).arguments[argument]["enum"] == list(known)


@pytest.mark.parametrize(
    ("kind", "name", "label"),
    [(MemoryTool, "memory", "write"), (RAGTool, "knowledge", "knowledge")],
)
def test_an_action_tool_has_name_description_and_labels(kind, name, label):
    assert (kind.name, kind.labels) == (name, {label})
    assert kind.description == describe_tool(name).description


def test_a_subclass_may_rename_an_action_tool(tmp_path):
    class Diary(MemoryTool):
        name = "diary"

    with Diary(path=tmp_path / "memory.db") as diary:
        assert (diary.tool.name, diary.tool.labels) == ("diary", MemoryTool.labels)
