"""A small project in a workspace, a secret beside it, and terminals in every mode."""

import pytest

from foldline.tools.terminal import Terminal, TerminalLimits
from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.sandbox import try_confinement

MARK = "OUTSIDE-4f1c"


@pytest.fixture
def tmp_path(disk_folder):
    """A folder in which a workspace is allowed."""
    return disk_folder


@pytest.fixture
def project(tmp_path):
    """A workspace `ws` beside a folder `outside` with a secret."""
    ws, outside = tmp_path / "ws", tmp_path / "outside"
    for folder in (ws / "src" / "deep", ws / "docs", outside):
        folder.mkdir(parents=True)
    (outside / "secret.txt").write_text(MARK + "\n")
    (ws / "README.md").write_text("# Title\n\nTODO: one\nsecond line\n")
    (ws / "src" / "app.py").write_text("import os\n\ndef main():\n    return 1  # TODO\n")
    (ws / "src" / "deep" / "util.py").write_text("X = 1\n")
    (ws / "docs" / "my notes.txt").write_text("it costs $5\n")
    (ws / "data.csv").write_text("a,1\nb,20\nc,3\n")
    (ws / "-dash.txt").write_text("dash\n")
    (ws / "link").symlink_to(outside / "secret.txt")
    (ws / "linked").symlink_to(outside)
    (ws / "inner").symlink_to("src")
    return ws


@pytest.fixture
def place(project):
    return WorkingDirectory.at(str(project.resolve()))


def opened(mode, workspace, **settings):
    """Open a terminal in a mode; skip the test if the machine lacks it."""
    if mode != "none" and try_confinement(mode).confinement is None:
        pytest.skip(f"no {mode} here: {try_confinement(mode).words}")
    settings.setdefault("limits", TerminalLimits(seconds=10))
    return Terminal.open(workspace, sandbox=mode, allow_unconfined=mode == "none", **settings)


@pytest.fixture
def open_in():
    return opened


@pytest.fixture(params=["bubblewrap", "landlock"])
def terminal(request, project):
    return opened(request.param, project)
