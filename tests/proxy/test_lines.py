"""The log holds nobody up, and loses a line rather than a request."""

import io
import json
import threading

from foldline.proxy.lines import WAITING, LineLog


def test_lines_are_json_in_the_order_in_which_they_came():
    out = io.StringIO()
    log = LineLog(out)
    assert all(log.add({"n": n, "text": "é\n"}) for n in range(5))
    log.close()
    assert [json.loads(line)["n"] for line in out.getvalue().splitlines()] == list(range(5))


def test_a_reader_who_does_not_read_loses_lines_and_stops_nobody():
    reads = threading.Event()

    class Stuck(io.StringIO):
        def write(self, text):
            reads.wait()
            return super().write(text)

    log = LineLog(Stuck())
    kept = [log.add({"n": n}) for n in range(WAITING + 200)]
    assert WAITING <= kept.count(True) <= WAITING + 1
    log.close(0.01)
    reads.set()


def test_without_a_stream_nothing_is_written():
    log = LineLog(None)
    assert log.add({})
    log.close()
