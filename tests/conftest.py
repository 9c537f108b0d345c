"""
Test modules share `tests.corpus`: the checkout is on the path however pytest is started.

Hypothesis tries the same examples on every run, so that a run that fails fails again; with
``--hypothesis-profile nightly`` it tries many more, and others every time.
What a test launched ends with it. What was skipped is told at the end, a line for each reason.
"""

import gc
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.archives import place, store
from tests.children import end_all
from tests.folders import disk_folder, folder_of_tests, tmp_path
from tests.postgres_server import postgres_server, postgres_url

__all__ = [
    "disk_folder",
    "folder_of_tests",
    "place",
    "postgres_server",
    "postgres_url",
    "store",
    "tmp_path",
]

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "foldline",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=30,
    suppress_health_check=SLOW,
)
settings.register_profile(
    "nightly", deadline=None, max_examples=1_000, print_blob=True, suppress_health_check=SLOW
)
settings.load_profile("foldline")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background has them ignore Ctrl-C, and so would every
    # program that they start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "disk: its files lie on a disk, not in memory")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Leave what 10,000 collected tests hold out of every collection of garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long: at the end, no process waits for another."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


def pytest_runtest_teardown() -> None:
    end_all()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    for reason, count in reasons.most_common():
        line = f"NOT PROVED HERE: {count} {'test' if count == 1 else 'tests'}: {reason}"
        terminalreporter.write_line(line, yellow=True, bold=True)
