"""Programs that tests launch end with the test in any case."""

import subprocess
import sys

import pytest
from tests.children import end_all, launch

WAITS = [sys.executable, "-c", "print('ready', flush=True); input()"]


def test_an_error_in_the_block_ends_a_program_that_waits_for_input():
    child = launch(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with pytest.raises(AssertionError, match="something else"):
        expect(child, b"something else")
    assert child.returncode < 0


def expect(child, words):
    with child:
        assert child.stdout.readline() == words, "it said something else"


def test_leftover_children_are_ended_and_their_pipes_closed():
    child = launch(WAITS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"ready\n"
    child.stdin.write(b"never flushed")
    end_all()
    assert child.returncode < 0
    assert child.stdin.closed
    assert child.stdout.closed


def test_every_test_has_a_timeout(request):
    assert 0 < float(request.config.getini("timeout")) <= 600
