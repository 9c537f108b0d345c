from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.sample import conversation

from foldline.session import Session


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Return an archive with one compacted session and a newer one."""
    path = tmp_path / "archive.db"
    with Session.open(path, "long", window=20_000, model="gpt-5") as session:
        session.extend(conversation(12))
        assert session.compact(3_000, force=True).status == "compacted"
    with Session.open(path, "newer", window=20_000) as session:
        session.extend([{"role": "user", "content": "Where is the harbour?"}] * 2)
    return path
