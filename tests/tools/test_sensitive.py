import pytest

from foldline.tools import Approvals, Workspace
from foldline.tools.sensitive import is_sensitive

HIDDEN = "PASSWORD=hunter2"


@pytest.fixture
def root(tmp_path):
    for name in (".env", "notes.txt", ".env.example", "keys/id_rsa"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(HIDDEN)
    return tmp_path


@pytest.mark.parametrize("name", [".env", "keys/id_rsa", "keys/../.env"])
def test_a_sensitive_file_is_read_only_with_approval(root, name):
    asked = []

    def person(request):
        asked.append(request.reason)
        return len(asked) > 1

    workspace = Workspace(root, approvals=Approvals(person))
    refused = workspace.read(name)
    assert (refused.code, HIDDEN in refused.text) == ("denied", False)
    assert workspace.read(name).text == HIDDEN
    assert all("may hold secrets" in reason for reason in asked)
    assert len(asked) == 2


def test_without_an_approver_a_sensitive_file_is_not_read(root):
    refused = Workspace(root).read(".ENV" if (root / ".ENV").exists() else ".env")
    assert refused.code == "needs_approval"
    assert HIDDEN not in refused.text


@pytest.mark.parametrize("name", ["notes.txt", ".env.example"])
def test_other_files_and_examples_are_read_without_approval(root, name):
    assert Workspace(root).read(name).text == HIDDEN


def test_the_list_of_patterns_is_configurable(root):
    assert Workspace(root, sensitive=()).read(".env").text == HIDDEN
    assert Workspace(root, sensitive=("*.txt",)).read("notes.txt").code == "needs_approval"


@pytest.mark.parametrize(
    "path", [".env", ".ENV.local", "a/server.PEM", "home/.ssh/config", "prod.tfvars", ".netrc"]
)
def test_secrets_are_recognized_by_name(path):
    assert is_sensitive(path.split("/"))
    assert not is_sensitive(["environment.py"])
