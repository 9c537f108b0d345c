"""A session as one self-contained HTML file: no script, no links, nothing to load."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

from foldline.evaluation.figures import local_time
from foldline.inspector.html import Html, h, join
from foldline.inspector.pages.compaction import compaction, render_forgotten
from foldline.inspector.pages.cost import cost
from foldline.inspector.pages.layout import Links, about, note, opening
from foldline.inspector.pages.messages import article
from foldline.inspector.pages.overview import overview
from foldline.inspector.pages.tokens import tokens
from foldline.inspector.trace import SessionTrace

COMPACTIONS: Final = 24
"""Maximum compactions listed message by message, the newest first."""

ROWS: Final = 400
"""Maximum messages listed of each."""

NOW: Final = 60
"""Maximum messages of the current view, the newest first."""

EXCERPT: Final = 1_200
"""Maximum characters of each of their parts."""

_STYLE: Final = Path(__file__).with_name("static") / "inspect.css"


def report(trace: SessionTrace, now: float) -> str:
    """
    Write a session as one HTML file.

    Args:
        trace: The session.
        now: The current time, in seconds since 1970.
    """
    links = Links("")
    style = _STYLE.read_text("utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    title = f"{trace.source.title} · foldline inspect"
    head = h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", http_equiv="Content-Security-Policy", content=policy),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("title", title),
        Html(f"<style>{style}</style>"),
    )
    changes = range(max(1, len(trace.segments) - COMPACTIONS), len(trace.segments))
    parts = [
        ("overview", "Over time", overview(trace, links)),
        ("forgotten", "What it forgot", render_forgotten(trace, links)),
        *(
            (f"compaction-{i}", f"Compaction {i}", compaction(trace, links, i, rows=ROWS))
            for i in reversed(changes)
        ),
        ("tokens", "Where the tokens are", tokens(trace, links)),
        ("now", "What the model would see now", _now(trace, links)),
        ("cost", "Cost", cost(trace, links, 0)),
    ]
    items = [h("li", h("a", words, href=f"#{place}")) for place, words, _ in parts]
    contents = h("nav", h("ul", items, class_="toc"), aria_label="Contents")
    brand = h("p", h("span", "foldline inspect", class_="brand"))
    body = h(
        "body",
        h("header", brand, h("p", h("strong", trace.source.title)), about(trace, now)),
        h("main", contents, [h("div", part, id=place) for place, _, part in parts]),
        h("footer", h("p", f"Written {local_time(now)} by foldline inspect.")),
    )
    return join(Html("<!doctype html>"), h("html", head, body, lang="en"))


def _now(trace: SessionTrace, links: Links) -> Html:
    messages = trace.segments[-1].messages
    left = len(messages) - NOW
    return opening(
        "What the model would see now",
        note(f"The newest {NOW} of {len(messages):,} messages, shortened.") if left > 0 else None,
        [article(trace, links, message, most=EXCERPT) for message in messages[-NOW:]],
    )
