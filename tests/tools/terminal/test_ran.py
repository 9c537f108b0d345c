"""What a model reads of a line that was run."""

import json

import pytest

from foldline.tools.terminal import Ran

pytestmark = pytest.mark.requirement("T7")


def test_a_result_is_told_with_its_errors_its_code_and_its_notes():
    ran = Ran(
        "failed", "ls x", "out\n", "no x\n", (0, 2), notes=("landlock: less",), seconds=0.12345
    )
    assert ran.text == "out\n[stderr]\nno x\n[exit code 2]\n[landlock: less]"
    assert (ran.ok, ran.code) == (True, 2)
    assert json.loads(json.dumps(ran.to_dict()))["seconds"] == 0.123


def test_what_was_not_run_says_so_first():
    assert Ran("refused", "x", reason="No.").text == "Refused: No."
    assert Ran("needs_approval", "x", reason="rm changes files.").text.startswith("Needs approval")
    assert Ran("timeout", "x", "part", reason="Stopped.").text == "Stopped.\npart"
    assert Ran("ok", "true", codes=(0,)).text == "(no output)"
    assert not Ran("error", "x").ok
