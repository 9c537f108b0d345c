"""Running an order: bounded in time and size, and never left hanging."""

import threading
import time

import pytest

from foldline.tools.terminal.order import PipelineStage, TerminalLimits, run_order
from foldline.tools.terminal.paths import find_binary
from foldline.tools.terminal.sandbox import Unconfined

pytestmark = pytest.mark.requirement("T7")


def order(place, *stages, seconds=10.0):
    made = [PipelineStage((find_binary(words[0]), *words[1:])) for words in stages]
    return Unconfined().order(made, place, TerminalLimits(seconds=seconds))


def test_stages_are_joined_and_their_codes_come_back(place):
    said = run_order(order(place, ("cat", "data.csv"), ("grep", "nothing")), 1_000)
    assert (said.stdout, said.codes, said.error) == (b"", (0, 1), "")


def test_a_long_stream_passes_a_pipe_completely_and_stops_without_a_reader(place, project):
    (project / "big").write_bytes(b"line\n" * 400_000)
    tail = run_order(order(place, ("cat", "big"), ("wc", "-l")), 1_000)
    assert tail.stdout.strip() == b"400000"
    head = run_order(order(place, ("cat", "big"), ("head", "-n", "1")), 1_000)
    assert (head.stdout, head.codes[1], head.error) == (b"line\n", 0, "")


def test_too_much_output_ends_it(place):
    said = run_order(order(place, ("seq", "1", "100000000000")), 5_000)
    assert (said.error, len(said.stdout)) == ("output", 5_000)


def test_too_much_time_ends_it(place):
    begun = time.monotonic()
    said = run_order(order(place, ("sleep", "60"), ("cat",), seconds=0.3), 1_000)
    assert said.error == "timeout"
    assert time.monotonic() - begun < 10


def test_it_can_be_cancelled(place):
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    said = run_order(order(place, ("sleep", "60")), 1_000, stop)
    assert said.error == "cancelled"


def test_a_program_that_cannot_start_is_an_error_result(place):
    gone = dict(order(place, ("cat", "data.csv"))) | {"directory": "/nowhere"}
    assert "No such file" in run_order(gone, 1_000).error
    wrong = dict(order(place, ("cat", "data.csv")))
    wrong["stages"] = [{**wrong["stages"][0], "argv": ["/nowhere/cat"]}]
    said = run_order(wrong, 1_000)
    assert said.codes == (126,)
    assert b"could not be started" in said.stderr


def test_standard_input_is_empty(place):
    assert run_order(order(place, ("cat",)), 1_000).stdout == b""
