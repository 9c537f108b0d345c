from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from tests.telemetry.compacted_sessions import SECRET, WORDS, compacted_session

from foldline.telemetry import logs


@pytest.mark.requirement("C20", "K39")
def test_compactions_are_logged_under_one_name_without_any_content(caplog):
    caplog.set_level(logging.DEBUG)
    compacted_session()
    ours = [r for r in caplog.records if r.name == "foldline"]
    texts = [record.getMessage() for record in ours]
    assert any("automatic compaction compacted" in text for text in texts)
    assert any("% full (warn)" in text for text in texts)
    assert not any(WORDS in text or SECRET in text for text in texts)


@pytest.mark.requirement("C20", "K39")
def test_info_logs_the_end_and_debug_also_the_start(caplog):
    caplog.set_level(logging.INFO, "foldline")
    compacted_session()
    assert not any("starts" in record.getMessage() for record in caplog.records)
    caplog.clear()
    caplog.set_level(logging.DEBUG, "foldline")
    compacted_session()
    assert any("starts" in record.getMessage() for record in caplog.records)


@pytest.mark.requirement("C20")
def test_a_program_without_logging_sees_no_logs():
    code = "from tests.telemetry.compacted_sessions import compacted_session; compacted_session()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_no_secret_in_a_name_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    logs.warn("The hook failed: Bearer abcdefghijklmnop is bad.")
    logs.LOGGER.info("session %r, %d%%", "sk-abcdefghijklmnop", 5)
    assert [record.getMessage() for record in caplog.records] == [
        "The hook failed: Bearer [redacted] is bad.",
        "session '[redacted]', 5%",
    ]
