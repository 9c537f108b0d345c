from __future__ import annotations

import sys
import time

import pytest

from foldline import InputError
from foldline.agents.maintainer.refactor.checks import SHOWN, parsed, run


def python(code, folder, seconds=30.0):
    return run((sys.executable, "-c", code), folder, seconds)


def test_a_check_passes_with_0_only_and_its_end_is_kept(tmp_path):
    good = python("print('x' * 50_000); print('all passed')", tmp_path)
    assert good.ok
    assert good.text.endswith("all passed\n")
    assert len(good.text) <= SHOWN
    bad = python("import sys; print('no', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (bad.code, bad.ok, bad.text) == (3, False, "no\n")


def test_it_is_run_in_its_folder_without_a_shell(tmp_path):
    assert python("import os; print(os.getcwd())", tmp_path).text == f"{tmp_path.resolve()}\n"
    (words,) = parsed([f"{sys.executable} -c 'print(1)' ; touch {tmp_path}/ran"])
    run(words, tmp_path, 30.0)
    assert not (tmp_path / "ran").exists()


def test_what_takes_too_long_is_stopped_with_all_that_it_started(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', "
    code += "'import time; time.sleep(60)'])"
    begun = time.monotonic()
    found = python(code, tmp_path, 0.5)
    assert found.code is None
    assert "stopped after 0.5 seconds" in found.text
    assert time.monotonic() - begun < 20


def test_a_program_that_is_not_there_fails(tmp_path):
    found = run(("no-such-program-here",), tmp_path, 1.0)
    assert not found.ok
    assert "cannot be started" in found.text


@pytest.mark.parametrize("line", ["", "  ", "make 'x"])
def test_what_cannot_be_read_is_refused(line):
    with pytest.raises(InputError):
        parsed([line])
