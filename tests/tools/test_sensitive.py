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
def test_a_file_that_may_hold_secrets_is_shown_only_when_a_person_says_yes(root, name):
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


def test_where_nobody_can_be_asked_it_is_not_shown(root):
    refused = Workspace(root).read(".ENV" if (root / ".ENV").exists() else ".env")
    assert refused.code == "needs_approval"
    assert HIDDEN not in refused.text


@pytest.mark.parametrize("name", ["notes.txt", ".env.example"])
def test_other_files_and_examples_are_shown_without_a_question(root, name):
    assert Workspace(root).read(name).text == HIDDEN


def test_the_list_is_ones_own_to_choose(root):
    assert Workspace(root, sensitive=()).read(".env").text == HIDDEN
    assert Workspace(root, sensitive=("*.txt",)).read("notes.txt").code == "needs_approval"


@pytest.mark.parametrize(
    "path", [".env", ".ENV.local", "a/server.PEM", "home/.ssh/config", "prod.tfvars", ".netrc"]
)
def test_secrets_are_known_by_their_names(path):
    assert is_sensitive(path.split("/"))
    assert not is_sensitive(["environment.py"])
