"""Where the programs are."""

import pytest

from foldline.tools.terminal.binaries import find_binary, located
from foldline.tools.terminal.refusal import Refused

pytestmark = pytest.mark.requirement("T7")


def test_programs_are_found_by_absolute_path_only(monkeypatch, tmp_path):
    (tmp_path / "ls").write_text("#!/bin/sh\n")
    (tmp_path / "ls").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_binary("ls") in {"/usr/bin/ls", "/bin/ls"}
    with pytest.raises(Refused, match="not installed"):
        located("no-such-program")
