"""The recorded transcripts of all agents, opened in a real browser."""

from __future__ import annotations

import json
import os
import re
from itertools import groupby
from pathlib import Path

import pytest
from tests.cli.sample import foldline
from tests.corpus import corpus_files, requires_corpus
from tests.inspector.browser import browsing, chromium, hosted, requires_browser

from foldline.inspector.session_cache import SessionEntry

pytestmark = [requires_browser, requires_corpus, pytest.mark.corpus, pytest.mark.slow]

MODEL = "gpt-5"
"""For which both count; else the pages count for the model that a file names."""

VIEWS = ("/forgotten", "/cost", "/requests/0", "/tokens")


def chosen() -> list[Path]:
    """List one transcript of every folder; all of them for ``make test-web``."""
    files = corpus_files()
    if os.environ.get("FOLDLINE_TEST_ALL"):
        return files
    return [next(of_folder) for _, of_folder in groupby(files, key=lambda path: path.parent)]


@pytest.mark.timeout(1_800)
@pytest.mark.requirement("V3")
def test_every_recorded_transcript_opens_with_the_totals_of_stats() -> None:
    counts = {
        path: json.loads(done.stdout)["tokens"] for path in chosen() if (done := stats(path))
    }
    assert len(counts) > 20
    entries = [SessionEntry(str(path), "transcript", "file", path) for path in counts]
    with (
        chromium() as browser,
        hosted(lambda: entries, MODEL) as link,
        browsing(browser, link) as visit,
    ):
        for entry in entries:
            for view in ("", *VIEWS):
                page = visit.go(f"/s/{entry.key}{view}")
                assert visit.troubles == [], f"{entry.title}{view}"
            shown = re.search(r"([\d,]+) tokens in view now", page.inner_text("main"))
            assert shown, entry.title
            assert int(shown[1].replace(",", "")) == counts[entry.place], entry.title


def stats(path: Path):
    """Return the output of ``foldline stats``; None if it does not read a file."""
    done = foldline("stats", path, "--json", "--model", MODEL)
    return done if done.exit_code == 0 else None
