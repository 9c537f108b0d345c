"""Reading documents: their text, their citations, and refusals."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.growth import grows_linearly, repeated

from foldline.errors import InputError, MissingExtra
from foldline.memory.documents import (
    DocumentText,
    ReadLimits,
    Skipped,
    files_below,
    read_document,
    read_file,
)
from foldline.memory.text_extraction import hides

PAGE = """<!doctype html><html><head><title> A &amp;
 B </title><script>var secret = 1;</script></head><body><nav>Menu</nav>
<h1>Retries</h1><p>They are <b>limited</b> to<br>three.</p><style>p {}</style>
<ul><li>one<li>two <a href="x">linked</a></ul>
<table><tr><th>name<th>value<tr><td>a<td>1</table>
<pre>def f():
    return 1</pre><p hidden>unseen</p><!-- unsaid --></body></html>"""


def pdf(*pages: str, title: str = "A title") -> bytes:
    """A minimal PDF file with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info {len(objects)} 0 R >>"
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{rows}{trailer}\nstartxref\n{len(out)}\n%%EOF"
    return out + tail.encode()


@pytest.mark.requirement("T14")
def test_a_web_page_is_read_as_markdown() -> None:
    reading = read_document(PAGE.encode(), "page.html")
    assert (reading.title, reading.kind, reading.unit) == ("A & B", "markdown", "text line")
    assert reading.text.split("\n\n") == [
        "Menu", "# Retries", "They are limited to three.", "- one", "- two linked",
        "name | value", "a | 1", "```\ndef f():\n    return 1\n```",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "piece", ["<a ", "<a b='", "<!--", "</", "<div>", "<p>", "<", "<![CDATA["]
)
def test_a_hostile_page_takes_no_long_time(piece: str) -> None:
    began = time.monotonic()
    with suppress(InputError):  # a page may also be refused
        read_document((piece * 200_000).encode(), "page.html")
    assert time.monotonic() - began < 20


def test_elements_inside_each_other_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="nested more than"):
        read_document(b"<div>" * 6_000, "page.html")


@pytest.mark.requirement("T14")
def test_pdf_files_are_cited_by_page() -> None:
    reading = read_document(pdf("first things", "last things"), "paper.pdf")
    assert (reading.title, reading.unit, reading.kind) == ("A title", "page", "text")
    rows = reading.text.split("\n")
    assert reading.place(rows.index("first things") + 1) == 1
    assert reading.place(rows.index("last things") + 1) == 2
    assert read_document(pdf("a", "b"), "b.pdf", ReadLimits(pages=1)).warnings == (
        "1 of 2 pages were read",
    )


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"%PDF-1.4\nrubbish", "cannot be read"), (pdf(""), "no text"), (b"%PDF-", "cannot be read")],
)
def test_a_damaged_or_empty_pdf_is_an_error(data: bytes, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_document(data, "broken.pdf")


@pytest.mark.parametrize(
    ("data", "text", "guessed"),
    [
        ("héllo 上下文".encode(), "héllo 上下文", False),
        (b"\xef\xbb\xbfmarked", "marked", False),
        ("上下文工程是一门学问。".encode("gb18030"), "上下文工程是一门学问。", True),
        ("déjà vu, naïve".encode("cp1252"), "déjà vu, naïve", True),
        ("wide words here".encode("utf-16-le"), "wide words here", True),
        ("wide 上下".encode("utf-16"), "wide 上下", False),
        (b"a\r\nb\rc", "a\nb\nc", False),
    ],
)
def test_encodings_are_detected_and_guesses_are_reported(
    data: bytes, text: str, guessed: bool
) -> None:
    reading = read_document(data, "notes.txt")
    assert reading.text == text
    assert bool(reading.warnings) == guessed


@pytest.mark.parametrize("data", [bytes(range(256)) * 20, b"\x00\x01" * 99, b"\x02\x03\x04" * 99])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="not text"):
        read_document(data, "data.txt")


@pytest.mark.parametrize(
    ("name", "package"), [("a.pdf", "pypdf"), ("a.html", "selectolax.lexbor")]
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"foldline\[documents\]"):
        read_document(b"%PDF-1.4" if name == "a.pdf" else b"<p>hello", name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.py", "code"),
        ("Makefile", "code"),
        ("a.MD", "markdown"),
        ("a.log", "text"),
        ("a", "text"),
    ],
)
def test_the_name_decides_how_a_file_is_split(name: str, kind: str) -> None:
    assert read_document(b"# Top\n\nwords", name).kind == kind


def test_a_markdown_file_is_called_by_its_first_heading() -> None:
    assert read_document(b"words\n\n# Top #\n", "a.md") == DocumentText(
        "words\n\n# Top #\n", "markdown", "Top"
    )


@pytest.mark.requirement("T14")
def test_files_are_read_within_bounds(tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_bytes(b"x" * 101)
    with pytest.raises(InputError, match="larger than 100 bytes"):
        read_file(big, ReadLimits(bytes=100))
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "", "missing"):
        with pytest.raises(InputError):
            read_file(tmp_path / name)
    (tmp_path / "link").symlink_to(big)
    with pytest.raises(InputError):
        read_file(tmp_path / "link")


@pytest.mark.requirement("T14")
def test_a_folder_is_walked_without_following_links_out_of_it(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("not for you")
    folder = tmp_path / "folder"
    for name in ("a.md", "sub/b.py", "node_modules/c.js", ".git/config", ".hidden", "sub/.env"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("words")
    (folder / "id_rsa").write_text("key")
    (folder / "empty.md").touch()
    (folder / "out").symlink_to(outside)
    (folder / "file").symlink_to(outside / "secret.md")
    (folder / "sub" / "loop").symlink_to(folder)
    found = list(files_below(folder, 1_000))
    files = [str(one.relative_to(folder)) for one in found if isinstance(one, Path)]
    assert files == ["a.md", "sub/b.py"]
    skipped = {one.path.name: one.why for one in found if isinstance(one, Skipped)}
    assert skipped.keys() == {"out", "file", "loop", "id_rsa", ".env"}
    assert skipped["out"] == "a link"
    assert "secrets" in skipped["id_rsa"]


def test_a_folder_that_is_too_large_is_reported(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text("words")
    (told,) = files_below(tmp_path, 3)
    assert isinstance(told, Skipped)
    assert "smaller one" in told.why


@pytest.mark.parametrize(
    "start",
    [
        "<p hidden>",
        "<p hidden=until-found>",
        "<p aria-hidden='true'>",
        "<p style='display:none'>",
        "<p style='color: red; DISPLAY : None !important'>",
        "<p style='display:/* x */none'>",
        "<p style='visibility:hidden'>",
        "<p style='visibility: collapse'>",
        "<p style='font-size:0'>",
        "<p style='width:0px;height:0'>",
        "<p style='height:0;overflow:hidden'>",
        "<p style='opacity:0.0'>",
        "<p width=0 height=0>",
        "<p class=away>",
        "<div id=gone><p>",
        "<noscript><p>",
        "<template><p>",
    ],
)
def test_hidden_content_of_a_page_is_not_read(start: str) -> None:
    sheet = "<style>/* .b{} */ .away, x { display: none } #gone{visibility:hidden}</style>"
    end = "</p></noscript></template></div>"
    page = f"<html><head>{sheet}</head><body><p>before</p>{start}unseen{end}<p>after</p></body>"
    assert read_document(page.encode(), "page.html").text == "before\n\nafter"


@pytest.mark.parametrize(
    "start",
    [
        "<p aria-hidden=false>",
        "<p style='display:block;height:0'>",
        "<p style='opacity:0.5;width:100%'>",
        "<p class=printed>",
        "<p width=0>",
    ],
)
def test_visible_content_of_a_page_is_read(start: str) -> None:
    sheet = "<style>@media print { .printed { display: none } } p{}}</style>"
    page = f"<html><head>{sheet}</head><body>{start}seen</p></body>"
    assert read_document(page.encode(), "page.html").text == "seen"


def test_style_sheets_are_read_in_linear_time_also_where_comments_do_not_end() -> None:
    assert grows_linearly(hides, repeated("/*a"), 4_000, 32_000)
    assert hides("display: none /* for now")
    assert not hides("/* display: none")
