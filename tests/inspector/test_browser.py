"""Every view as a user sees and uses it, in a real browser."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import conversation, write_conversation
from tests.inspector.browser import (
    AXE,
    Visit,
    browsing,
    chromium,
    hosted,
    requires_browser,
    served,
    texts,
)
from tests.inspector.sample import in_files, make_archive
from tests.nightly import NIGHTLY

from foldline.inspector.session_cache import archive_entries

pytestmark = [requires_browser, pytest.mark.slow]

VIEWS = (
    "",
    "/forgotten",
    "/tokens",
    "/knows?q=deploy+key",
    "/what-if?try=1&budget=4000",
    "/cost",
    "/requests/12",
    "/compactions/2",
    "/undo",
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_archive(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def link(archive: Path) -> Iterator[str]:
    with hosted(lambda: archive_entries(archive)) as found:
        yield found


@pytest.fixture(scope="module")
def window(browser: Any, link: str) -> Iterator[Visit]:
    with browsing(browser, link) as made:
        yield made


@pytest.fixture
def visit(window: Visit) -> Iterator[Visit]:
    """The list of sessions, in a window of all tests with nothing special."""
    window.troubles.clear()
    window.go("/")
    yield window
    assert window.troubles == []


def session_of(visit: Visit) -> str:
    return str(visit.page.locator("tbody a").first.get_attribute("href"))


def figure(visit: Visit, index: int) -> int:
    """Return one of the figures at the top of a session."""
    return int(re.match(r"[\d,]+", texts(visit.page, ".tiles dd")[index])[0].replace(",", ""))


@pytest.mark.requirement("V1")
def test_forgotten_messages_are_three_clicks_away(visit: Visit) -> None:
    visit.page.click("tbody a")
    visit.page.click("text=What it forgot")
    visit.page.click(".fates a:has-text('only by handle')")
    rows = texts(visit.page, ".sides tbody tr")
    assert rows
    assert all("only by handle" in row for row in rows)


@pytest.mark.requirement("V2")
def test_a_click_on_the_chart_shows_what_the_model_saw_there(visit: Visit) -> None:
    visit.page.click("tbody a")
    box = visit.page.locator("svg.over-time").bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 100)
    tip = visit.page.inner_text(".tip")
    number = re.match(r"request (\d+): ", tip)
    assert number
    visit.page.mouse.click(box["x"] + box["width"] / 4, box["y"] + 100)
    visit.page.wait_for_url(f"**/requests/{number[1]}")
    assert f"request {number[1]}" in visit.page.inner_text("h1")
    assert visit.page.locator("article.message").count() > 2


def test_every_compaction_is_marked_and_leads_to_its_page(visit: Visit) -> None:
    visit.page.click("tbody a")
    marks = visit.page.locator("svg.over-time a").count()
    assert marks == visit.page.locator("table a").count() > 1
    visit.page.locator("svg.over-time a circle").first.click()
    assert visit.page.inner_text("h1") == "Compaction 1"
    assert "Receipt" in visit.page.inner_text("main")


@pytest.mark.requirement("V5")
def test_a_question_is_answered_while_it_is_typed(visit: Visit) -> None:
    visit.go(f"{session_of(visit)}/knows")
    for words, verdict in (
        ("why the build of src/app.py fails", "in view, here"),
        ("value_2_17 = compute(17, 2)", "only by handle"),
        ("zebra_crossing_441", "never mentioned"),
    ):
        visit.page.fill("#search", words)
        visit.page.wait_for_selector(f".verdict:has-text('{verdict}')")
    assert visit.page.evaluate("document.activeElement.id") == "search"


@pytest.mark.requirement("V6")
def test_settings_are_tried_and_exported(visit: Visit) -> None:
    visit.go(f"{session_of(visit)}/what-if")
    visit.page.select_option("select[name=policy]", "salient")
    visit.page.fill("input[name=budget]", "4000")
    visit.page.click("button:has-text('Try it')")
    visit.page.wait_for_selector("main:has-text('would take')", timeout=60_000)
    with visit.page.expect_download() as download:
        visit.page.click("text=Download foldline.toml")
    assert 'policy = "salient"' in Path(download.value.path()).read_text()


def test_a_session_is_replayed_under_every_policy(visit: Visit) -> None:
    visit.go(f"{session_of(visit)}/cost")
    visit.page.click("text=Replay it under every policy")
    visit.page.wait_for_selector("th:has-text('never compacted')", timeout=60_000)
    assert "keep-recent" in texts(visit.page, "table th[scope=row]")


@pytest.mark.requirement("V7")
def test_undo_needs_a_confirmation(browser: Any, tmp_path: Path) -> None:
    path = make_archive(tmp_path)
    with hosted(lambda: archive_entries(path)) as link, browsing(browser, link) as visit:
        visit.page.click("tbody a")
        before = figure(visit, 0)
        visit.page.locator("table a").first.click()
        visit.page.click("text=Undo this compaction…")
        visit.page.click("text=No, go back")
        visit.page.locator("table a").first.click()
        visit.page.click("text=Undo this compaction…")
        visit.page.click("button:has-text('Undo it')")
        visit.page.wait_for_selector("th:has-text('undo')")
        after = figure(visit, 0)
        assert after > before
        assert visit.troubles == []


@pytest.mark.requirement("V10")
def test_a_growing_file_is_followed_without_a_reload(browser: Any, tmp_path: Path) -> None:
    file = write_conversation(tmp_path / "s.json", 6)
    with served(file, home=tmp_path) as link, browsing(browser, link) as visit:
        visit.page.evaluate("window.stays = true")
        first = texts(visit.page, ".tiles dd")[2]
        write_conversation(file, 9)
        visit.page.wait_for_function(
            "first => document.querySelectorAll('.tiles dd')[2].innerText !== first",
            arg=first,
            timeout=60_000,
        )
        assert visit.page.evaluate("window.stays") is True
        assert "grown" in visit.page.inner_text("#news")
        assert visit.troubles == []


@pytest.mark.requirement("V11")
def test_everything_is_reached_with_the_keyboard(visit: Visit) -> None:
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.locator("tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".scrub[role=slider]")
    page.locator(".scrub").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.locator(".scrub").get_attribute("aria-valuenow") == "1"
    page.keyboard.press("Enter")
    page.wait_for_url("**/requests/1")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/requests/2")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/requests/1")
    page.keyboard.press("/")
    page.wait_for_url("**/knows")
    page.keyboard.press("/")
    page.keyboard.type("deploy key")
    page.wait_for_selector(".verdict")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.requirement("V11")
def test_axe_finds_nothing_serious(browser: Any, link: str, scheme: str) -> None:
    with browsing(browser, link, color_scheme=scheme, bypass_csp=True) as visit:
        found = {"/": visit.serious()}
        base = session_of(visit)
        for view in VIEWS:
            visit.go(f"{base}{view}")
            found[view] = visit.serious()
        assert {view: serious for view, serious in found.items() if serious} == {}


@pytest.mark.requirement("V11")
def test_every_page_has_an_outline_and_fits_into_a_narrow_window(browser: Any, link: str) -> None:
    with browsing(browser, link, viewport={"width": 380, "height": 800}) as visit:
        base = session_of(visit)
        for view in VIEWS:
            page = visit.go(f"{base}{view}")
            assert page.locator("h1").count() == 1, view
            assert page.locator("main").count() == page.locator("header").count() == 1
            assert page.locator("nav:not([aria-label])").count() == 0
            assert page.evaluate("document.documentElement.scrollWidth") <= 380, view
        assert visit.troubles == []


def test_without_a_script_the_pages_still_work(browser: Any, link: str) -> None:
    with browsing(browser, link, java_script_enabled=False) as visit:
        visit.page.click("tbody a")
        visit.page.fill("input[name=n]", "5")
        visit.page.click("text=What the model saw")
        assert "request 5" in visit.page.inner_text("h1")


@pytest.mark.requirement("V12")
def test_a_report_is_read_without_a_server(browser: Any, link: str, tmp_path: Path) -> None:
    from tests.inspector.sample import from_our_archive

    from foldline.inspector.report import report

    file = tmp_path / "report.html"
    file.write_text(report(from_our_archive(tmp_path), 1e9), encoding="utf-8")
    with browsing(browser, link) as visit:
        visit.origin = f"file://{file}"
        visit.page.goto(f"file://{file}")
        assert "What it forgot" in visit.page.inner_text("main")
        width = visit.page.locator(".tiles > div").first.bounding_box()["width"]
        assert width < 500, "its style does not hold"
        visit.page.click("nav >> text=Where the tokens are")
        pdf = visit.page.pdf()
        assert pdf.startswith(b"%PDF")
        assert visit.troubles == []


def test_the_selected_checker_is_used() -> None:
    digest = hashlib.sha256(AXE.read_bytes()).hexdigest()
    assert digest == "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
    assert b"axe v4.14.1" in AXE.read_bytes()[:200]
    assert (AXE.parent / "axe.LICENSE.txt").read_text("utf-8").startswith("Mozilla Public License")


# --- hostile transcripts ----------------------------------------------------------------------

HOSTILE = {
    "script": "<script>window.owned = 1; alert(1)</script>",
    "image": "<img src=x onerror='window.owned = 1'>",
    "svg": "<svg onload='window.owned = 1'><script>window.owned = 1</script></svg>",
    "style": "<style>* { display: none }</style><link rel=stylesheet href=//evil.example/x.css>",
    "frame": "<iframe srcdoc='<script>parent.owned = 1</script>'></iframe>",
    "base": "<base href='https://evil.example/'><form action='//evil.example'><input name=token>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "attribute": "\" onmouseover=\"window.owned = 1\" x=\" ' onfocus='window.owned=1' autofocus='",
    "link": "<a href='javascript:window.owned=1'>x</a> [x](javascript:owned) https://evil.example",
    "closing": "</pre></article></main></body></html><script>window.owned = 1</script>",
    "comment": "<!-- --><script>window.owned = 1</script><!--",
    "entities": "&lt;script&gt;window.owned = 1&lt;/script&gt; &#60;script&#62;",
    "template": "{{7*7}} ${7*7} <%= 7*7 %> {% raw %} #{7*7}",
    "bidi": "\u202e\u2066gpj.exe\u2069\u202c \u200b\u200f\u061c invisible",
    "controls": "\x00\x07\x1b[2J\x1b]0;owned\x07 \x7f\x9b",
    "surrogate": "half \\ud800 a pair",
    "combining": "Z" + "\u0337\u0335\u0322" * 400,
    "wide": "W" * 20_000,
    "json": '{"__proto__": {"owned": 1}, "constructor": null}',
    "nested": "[" * 5_000 + "]" * 5_000,
}
"""Twenty active texts; each is tried in every text field of a transcript."""

LONG, MANY = (10_000_000, 100_000) if NIGHTLY else (2_000_000, 10_000)
"""Characters of a long line, and messages of a long transcript."""


def hostile(text: str) -> list[dict[str, object]]:
    call = {"id": "1", "type": "function", "function": {"name": text[:60], "arguments": text}}
    return [
        {"role": "system", "content": text},
        {"role": "user", "content": text},
        {"role": "assistant", "content": text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": text},
        {"role": "assistant", "content": "done"},
    ]


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    for name, text in HOSTILE.items():
        nasty = "'<img src=x onerror=owned=1>" if name == "image" else ""
        document = json.dumps({"model": text[:80], "messages": hostile(text)})
        (folder / f"{name}{nasty}.json").write_text(document.replace("\\\\ud800", "\\ud800"))
    (folder / "line.json").write_text(json.dumps(hostile("x" * LONG)))
    many = [{"role": ("user", "assistant")[n % 2], "content": f"<b>{n}</b>"} for n in range(MANY)]
    (folder / "many.json").write_text(json.dumps(many))
    return folder


@pytest.fixture(scope="module")
def attacked(browser: Any, hostile_folder: Path) -> Iterator[Visit]:
    with hosted(lambda: in_files(hostile_folder)) as link, browsing(browser, link) as made:
        yield made


@pytest.fixture
def attack(attacked: Visit) -> Iterator[Visit]:
    """A window on hostile transcripts."""
    attacked.troubles.clear()
    yield attacked
    assert attacked.troubles == []


@pytest.mark.requirement("V8")
def test_no_text_of_a_transcript_is_ever_active(attack: Visit) -> None:
    page = attack.go("/?q=json&sort=size&order=rising")
    rows = page.locator("tbody a").all()
    places = {row.inner_text(): str(row.get_attribute("href")) for row in rows}
    assert len(places) == len(HOSTILE) + 2
    for name, base in places.items():
        large = name.startswith(("line", "many"))
        for view in ("", "/requests/1") if large else ("", "/requests/1", "/tokens", "/forgotten"):
            page = attack.go(f"{base}{view}")
            assert page.evaluate("window.owned") is None, name
            assert page.evaluate("({}).owned") is None, name
            outside = "[...document.querySelectorAll('[src], [href], [action]')].map(e => "
            outside += "e.getAttribute('src') || e.getAttribute('href') || "
            outside += "e.getAttribute('action')).filter(u => !/^[/#]|^data:,/.test(u))"
            assert page.evaluate(outside) == [], name
            assert page.locator("main").is_visible()
            assert page.evaluate("document.body.innerText").count("foldline inspect") >= 1
        assert attack.troubles == [], name


def test_a_search_for_something_hostile_stays_a_search(attack: Visit) -> None:
    attack.go("/?q=json")
    base = str(attack.page.locator("tbody a:has-text('script')").first.get_attribute("href"))
    attack.go(f"{base}/knows?q=%3Cscript%3Ewindow.owned")
    assert attack.page.input_value("#search") == "<script>window.owned"
    assert "in view, here" in attack.page.inner_text(".verdict")
    assert attack.page.evaluate("window.owned") is None


def test_a_long_line_is_read_page_by_page(attack: Visit) -> None:
    attack.go("/?q=line.json")
    attack.page.click("tbody a")
    attack.page.wait_for_selector(".chart", timeout=60_000)
    attack.go(f"{attack.page.url.removeprefix(attack.origin)}/requests/1")
    attack.page.locator(".more a").first.click()
    assert f"of {LONG:,}" in attack.page.inner_text(".pages")
    attack.page.click(".pages >> text=last")
    assert f"to {LONG:,}" in attack.page.inner_text(".pages")


def test_totals_are_those_of_stats(browser: Any, tmp_path: Path) -> None:
    from tests.cli.sample import foldline

    file = write_conversation(tmp_path / "s.json")
    stats = json.loads(foldline("stats", file, "--json").stdout)
    with served(file, home=tmp_path) as link, browsing(browser, link) as visit:
        assert figure(visit, 0) == stats["tokens"]
        assert len(conversation()) == stats["messages"]
        visit.page.click("text=Where the tokens are")
        rows = texts(visit.page, "section:has(h2:text-is('By tool')) tbody tr")
        assert f"{stats['tools'][0]['tokens']:,}" in rows[0]
