"""A real browser for tests: Debian's Chromium, steered by Playwright, over a real server."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.children import launch

from foldline.core.config import Config
from foldline.inspector.pages.sessions import SessionSurvey
from foldline.inspector.session_cache import SessionCache, SessionEntry
from foldline.inspector.site import InspectorSite
from foldline.inspector.web import Access, application, listen

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

requires_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="NO BROWSER: the pages were not opened; `make test-web` installs one"
)


class Visit:
    """
    An open page, and everything that went wrong on it.

    ``troubles`` are errors of the console and of scripts, dialogs, and requests to anywhere else.
    """

    def __init__(self, page: Any, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.troubles: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(message.text)

    def _dialog(self, dialog: Any) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:")):
            self.troubles.append(f"request: {request.url}")

    def go(self, path: str) -> Any:
        """Open a page and wait until it is loaded, including any reading."""
        self.page.goto(f"{self.origin}{path}")
        self.page.wait_for_selector("main:not(:has(progress))", timeout=60_000)
        return self.page

    def serious(self) -> list[str]:
        """Return the serious findings of axe-core on the page."""
        # As a test tool it bypasses the page's own policy.
        found = self.page.evaluate(
            f"async () => {{ {AXE.read_text('utf-8')}; "
            "return (await axe.run()).violations.filter(v => "
            "['serious', 'critical'].includes(v.impact)).map(v => `${v.id}: ` + "
            "v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(' | ')); }"
        )
        return list(found)


@contextmanager
def served(*words: Any, home: Path) -> Iterator[str]:
    """Run ``foldline inspect`` and yield the link that it prints."""
    command = [sys.executable, "-m", "foldline", "inspect", *map(str, words), "--json", "-q"]
    environment = {"HOME": str(home), "FOLDLINE_HOME": str(home), "PATH": "/usr/bin:/bin"}
    with launch(command, stdout=subprocess.PIPE, env=environment, cwd=home) as child:
        text = ""
        while not text.rstrip().endswith("}"):
            line = child.stdout.readline().decode()
            assert line, "the server ended"
            text += line
        yield json.loads(text)["link"]
        child.terminate()


@contextmanager
def hosted(find: Callable[[], Iterable[SessionEntry]], model: str = "") -> Iterator[str]:
    """Serve pages in this process and yield the first link."""
    place = listen(0)
    access = Access(place.getsockname()[1])
    site = InspectorSite(
        SessionCache(find, Config(), model), SessionSurvey(Config()), access.token
    )
    settings = uvicorn.Config(application(site.answer, access), log_level="error", lifespan="off")
    server = uvicorn.Server(settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
    thread.start()
    try:
        yield access.link()
    finally:
        server.should_exit = True
        thread.join(20)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser with an empty profile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def browsing(browser: Any, link: str, **settings: Any) -> Iterator[Visit]:
    """Follow a link in a new window, and yield the page."""
    origin = "/".join(link.split("/")[:3])
    with browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **settings}) as window:
        visit = Visit(window.new_page(), origin)
        visit.page.goto(link)
        visit.page.wait_for_url(lambda url: "token" not in url)
        visit.page.wait_for_selector("main:not(:has(progress))", timeout=60_000)
        yield visit


def texts(page: Any, selector: str) -> Sequence[str]:
    """Return the text of elements."""
    return [text.strip() for text in page.locator(selector).all_inner_texts()]
