"""The codebases of these tests are workspaces of terminals."""

from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(disk_folder: Path) -> Path:
    return disk_folder
