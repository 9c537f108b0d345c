import pytest

from foldline.errors import BudgetError, InputError
from foldline.tools import (
    FULL,
    READ_ONLY,
    ErrorCode,
    Permissions,
    Tool,
    ToolOutput,
    ToolRegistry,
    ToolView,
)

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
LABELS = {
    "read_file": {"read"},
    "search": {"read"},
    "write_file": {"read", "write"},
    "bash": {"run"},
    "fetch": {"network"},
    "rm_everything": (),
}


def made(name, labels):
    return Tool(name, "A tool.", NOTHING, lambda _: ToolOutput(f"{name} ran"), labels=labels)


@pytest.fixture
def registry():
    return ToolRegistry(made(name, labels) for name, labels in LABELS.items())


def names(tools):
    return {tool.name for tool in tools}


@pytest.mark.requirement("H13")
def test_tools_are_denied_by_default_above_all_functions_without_labels(registry):
    @registry.function
    def delete_all() -> str:
        """Delete everything."""
        return "gone"

    view = ToolView(registry, READ_ONLY)
    assert names(view) == {"read_file", "search"}
    assert {schema["name"] for schema in view.schemas("anthropic")} == names(view)
    for name in ("delete_all", "rm_everything", "write_file", "bash"):
        assert view.run(name).code is ErrorCode.DENIED
        assert name not in view
    assert view.run("read_file").text == "read_file ran"
    assert view.run("nothing").code is ErrorCode.NOT_FOUND
    assert "bash" not in view.run("nothing").text


@pytest.mark.requirement("H13")
def test_full_access_still_runs_no_programs(registry):
    assert names(ToolView(registry, FULL)) == {"read_file", "search", "write_file", "fetch"}
    assert Permissions.named("read-only") == READ_ONLY
    with pytest.raises(BudgetError, match="Did you mean 'read-only'"):
        Permissions.named("readonly")


@pytest.mark.requirement("H13")
def test_names_are_allowed_and_denied_one_by_one_and_a_denial_wins(registry):
    permissions = Permissions({"read"}, allow={"bash", "rm_everything"}, deny={"search", "bash"})
    assert names(ToolView(registry, permissions)) == {"read_file", "rm_everything"}


@pytest.mark.requirement("H13")
def test_a_view_of_a_view_only_narrows(registry):
    outer = ToolView(registry, READ_ONLY)
    inner = ToolView(outer, Permissions(FULL.labels, allow=set(LABELS)))
    assert names(inner) == {"read_file", "search"}
    assert inner.run("bash").code is ErrorCode.DENIED
    assert names(ToolView(inner, Permissions())) == set()


@pytest.mark.requirement("H13")
def test_the_registry_is_never_changed_and_a_view_follows_it(registry):
    before = registry.tools
    view = ToolView(registry, READ_ONLY)
    view.run("bash")
    assert registry.tools == before
    registry.add(made("grep", {"read"}))
    registry.add(made("search", {"read", "run"}), replace=True)
    assert names(view) == {"read_file", "grep"}
    assert view.run("search").code is ErrorCode.DENIED


@pytest.mark.requirement("H13")
def test_no_attribute_of_a_view_can_widen_it(registry):
    permissions = Permissions({"read"})
    with pytest.raises(AttributeError):
        permissions.labels = frozenset({"run"})
    assert isinstance(permissions.labels, frozenset)


@pytest.mark.parametrize("labels", ["read", {"Read"}, {""}, {3}])
def test_an_invalid_label_is_an_error(labels):
    with pytest.raises(InputError, match="labels"):
        Permissions(labels)
    with pytest.raises(InputError, match="labels"):
        made("a", labels)
