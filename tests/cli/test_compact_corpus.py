"""Real sessions of real agents, compacted to a tenth in their own format."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import foldline
from tests.corpus import ROOT, requires_corpus

from foldline.api import counter_for
from foldline.formats.files import read_file
from foldline.formats.registry import DIALECTS

pytestmark = [requires_corpus, pytest.mark.corpus]

FILES = {
    "claude-code": "claude-code-entireio-cli/session-839b35f7.jsonl.gz",
    "codex": "codex-jdx-mise/rollout-019f43c8-67be.jsonl.gz",
}


@pytest.mark.parametrize(("kind", "name"), FILES.items())
def test_a_real_session_is_read_back_smaller_and_valid(
    kind: str, name: str, tmp_path: Path
) -> None:
    out = tmp_path / "smaller.jsonl"
    done = foldline("compact", ROOT / name, "--budget", "10%", "-o", out, "-q")
    assert (done.exit_code, done.stdout) == (0, "")
    before, after = read_file(ROOT / name), read_file(out)
    assert after.format == kind
    there, was = after.current.transcript, before.current.transcript
    counter = counter_for(there, None)
    assert counter.messages(there.messages) <= 0.1 * counter.messages(was.messages)
    wire = DIALECTS[there.dialect]
    assert wire.validate(wire.messages(there.messages)) == []


def test_real_sessions_are_scanned(tmp_path: Path) -> None:
    done = foldline("scan", ROOT / "claude-code-session-share", "--limit", 3)
    assert done.exit_code == 0
    assert "3 sessions" in done.stdout
