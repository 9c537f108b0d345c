"""
The pictures of docs/inspect.md: ``make screenshots``.

The session is the made-up one of ``examples/``, run through an archive as an agent would.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.inspector.browser import CHROMIUM, browsing, chromium, hosted

from foldline import Session
from foldline.inspector.session_cache import archive_entries

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "inspect"
WINDOW = 24_000

PICTURES = {
    "over-time": ("", 1100, 760, "light"),
    "dark": ("", 1100, 560, "dark"),
    "compaction": ("/compactions/3", 1100, 860, "light"),
    "tokens": ("/tokens", 1100, 860, "light"),
    "knows": ("/knows?q=Why+did+the+receipt+tests+fail%3F", 1100, 640, "light"),
    "what-if": ("/what-if?try=1&budget=5000", 1100, 700, "light"),
    "narrow": ("", 390, 760, "light"),
}
"""By name: the page, its width and height in pixels, and the theme."""


def make_session(folder: Path) -> Path:
    """Run the bundled session in a small window, so that it compacts itself."""
    path = folder / "agent.db"
    messages = json.loads((ROOT / "examples" / "session.json").read_text("utf-8"))["messages"]
    with Session.open(path, "receipts", model="claude-sonnet-4-5", window=WINDOW) as session:
        for message in messages:
            if message["role"] == "assistant":
                session.view()
            session.append(message)
    return path


def main() -> None:
    """Draw every picture."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        path = make_session(Path(folder))
        key = archive_entries(path)[0].key
        with hosted(lambda: archive_entries(path)) as link, chromium() as browser:
            for name, (view, width, height, scheme) in PICTURES.items():
                size = {"width": width, "height": height}
                with browsing(browser, link, viewport=size, color_scheme=scheme) as visit:
                    page = visit.go(f"/s/{key}{view}")
                    page.screenshot(path=FOLDER / f"{name}.png")
                    if visit.troubles:
                        sys.exit(f"{name}: {visit.troubles}")


if __name__ == "__main__":
    if CHROMIUM is None:
        sys.exit("NO BROWSER: install Chromium first.")
    main()
