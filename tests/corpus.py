"""The real transcripts beside the checkout, for tests marked ``corpus``."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "transcripts"

requires_corpus = pytest.mark.skipif(
    not ROOT.is_dir(), reason=f"NO REAL TRANSCRIPTS: the folder {ROOT} is missing"
)


def corpus_files(*folder_prefixes: str) -> list[Path]:
    """List the transcripts in the folders with these prefixes (all folders without any)."""
    if not ROOT.is_dir():
        return []
    return sorted(
        path
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name.startswith(folder_prefixes or "")
        for path in folder.iterdir()
        if path.name not in ("SOURCE.md", "LICENSE.txt")
    )
