"""
A demonstration on a recorded session: every line below a ``$`` is real output.

    python examples/demo.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from foldline.archive import Archive
from foldline.errors import RecallError

ROOT = Path(__file__).resolve().parents[1]
SESSION = "examples/session.json"
FACT = "48113"
"""A port that is named once, in a file that the agent reads in its first step."""

SHOWN = 22
"""Number of lines printed of the snapshot."""

SCREEN = Console(highlight=False, width=min(100, Console().width))


def say(words: str) -> None:
    """Print a heading."""
    SCREEN.print(f"\n[bold cyan]{escape(words)}[/]\n")


def run(home: Path, *words: str) -> None:
    """Print a command and run it."""
    line = " ".join(words).replace(f"{home}{os.sep}", "")
    SCREEN.print(f"[bold]$ foldline {escape(line)}[/]")
    sys.stdout.flush()
    environment = {**os.environ, "FOLDLINE_HOME": str(home)}
    command = [sys.executable, "-m", "foldline", *words]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)  # noqa: S603  # our own


def snapshot(smaller: Path) -> list[str]:
    """Return the lines of the snapshot in the compacted session."""
    messages = json.loads(smaller.read_text())["messages"]
    texts = [str(m["content"]) for m in messages if m["role"] == "user"]
    return next(text for text in texts if text.startswith("[Snapshot")).split("\n")


def handle_of(fact: str, receipt: Path, archive: Path) -> str:
    """Return the handle under which the tool result with a fact is recalled."""
    removed = json.loads(receipt.read_text())["recall"]
    with Archive.open(archive) as kept:
        for handle, words in removed.items():
            try:
                if "result" in words and fact in kept.recall(handle).text:
                    return str(handle)
            except RecallError:
                continue
    sys.exit(f"{fact} is nowhere in the archive: this is a bug.")


def main() -> None:
    """Compact the session to a tenth, and recall what was removed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        smaller, receipt = home / "smaller.json", home / "receipt.json"
        say("1. A recorded session of a coding agent. Where do its tokens go?")
        run(home, "stats", SESSION, "--top", "3")
        say("2. Compact it to a tenth. No model, no network:")
        run(
            home,
            *("compact", SESSION, "--budget", "10%"),
            *("-o", str(smaller), "--receipt", str(receipt)),
        )
        say("3. What the model sees instead: lines of the session itself, each with a handle.")
        lines = snapshot(smaller)
        for line in lines[:SHOWN]:
            SCREEN.print(escape(line), overflow="ellipsis", no_wrap=True)
        SCREEN.print(f"[dim]… and {len(lines) - SHOWN:,} lines more[/]")
        say(f"4. In its first step the agent read a port number, {FACT}. It is still in view:")
        kept = [line.strip() for line in lines if FACT in line]
        SCREEN.print(escape("\n".join(kept) or "not in the snapshot, but in the archive:"))
        say("   Its context is recalled word for word:")
        handle = handle_of(FACT, receipt, home / "archive.db")
        run(home, "recall", handle, "--grep", FACT, "--context", "3")


if __name__ == "__main__":
    main()
