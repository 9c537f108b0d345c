"""Extract text from the bytes of a document: plain text in any encoding, PDF, and HTML."""

from __future__ import annotations

import codecs
import logging
import re
import time
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any, Final

from foldline.errors import InputError, MissingExtra
from foldline.frozen import frozen

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HAN: Final = re.compile("[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]")
_CONTROLS: Final = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_LINE_END: Final = re.compile("\r\n?|[\u2028\x85]")

SAMPLE: Final = 65_536
"""The number of characters sampled to recognize text and its encoding."""

MOST_CONTROLS: Final = 0.02
"""The share of control characters above which data is not text."""


@frozen
class DecodedText:
    """A text with normalized line ends, and its original encoding."""

    text: str
    encoding: str
    guessed: bool = False


def decode_text(data: bytes, name: str) -> DecodedText:
    """
    Decode bytes as text.

    Args:
        data: The bytes.
        name: The name of the document in errors.

    Raises:
        InputError: They are not text.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _text(data[len(mark) :].decode(encoding, "replace"), encoding, name)
    if b"\0" in data[:SAMPLE]:
        return _wide(data, name)
    try:
        return _text(data.decode("utf-8"), "utf-8", name)
    except UnicodeDecodeError:
        pass
    if _is_chinese(data[:SAMPLE]):
        return _text(data.decode("gb18030", "replace"), "gb18030", name, guessed=True)
    return _text(data.decode("cp1252", "replace"), "cp1252", name, guessed=True)


def _is_chinese(sample: bytes) -> bool:
    """Return True if bytes are GB 18030; in other encodings they would pair with Latin letters."""
    text = sample.decode("gb18030", "ignore")
    wide = sum(char > "\x7f" for char in text)
    high = sum(byte > 0x7F for byte in sample)
    return high > 1.7 * wide and len(_HAN.findall(text)) > 0.6 * wide


def _wide(data: bytes, name: str) -> DecodedText:
    """Decode UTF-16 without a byte order mark, where every other byte of Latin text is zero."""
    even, odd = data[:SAMPLE:2].count(0), data[1:SAMPLE:2].count(0)
    if max(even, odd) > 20 * min(even, odd) and max(even, odd) * 8 > len(data[:SAMPLE]):
        encoding = "utf-16-be" if even > odd else "utf-16-le"
        return _text(data.decode(encoding, "replace"), encoding, name, guessed=True)
    raise _no_text(name)


def _text(text: str, encoding: str, name: str, *, guessed: bool = False) -> DecodedText:
    sample = text[:SAMPLE]
    if len(_CONTROLS.findall(sample)) > MOST_CONTROLS * len(sample):
        raise _no_text(name)
    return DecodedText(_LINE_END.sub("\n", text).replace("\0", "\ufffd"), encoding, guessed)


def _no_text(name: str) -> InputError:
    return InputError(f"{name} is not text", hint="Only text, HTML and PDF files can be read.")


SECONDS: Final = 120.0
"""The time limit for one file, in seconds."""


def pdf_text(
    data: bytes, name: str, most_pages: int, most_chars: int
) -> tuple[list[str], str, tuple[str, ...]]:
    """
    Return the text of each page, the title, and warnings about unreadable content.

    Args:
        data: The file.
        name: The name of the file in errors.
        most_pages: The maximum number of pages to read.
        most_chars: The maximum number of characters to read.

    Raises:
        InputError: It is damaged, protected by a password, or has no text, such as a scan.
        MissingExtra: The PDF reader is not installed.
    """
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtra("pypdf", "documents") from error
    # pypdf logs every oddity of a file; the important ones are among the warnings.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is protected by a password")
        pages, warnings = _pdf_pages(reader, most_pages, most_chars)
        title = str(getattr(reader.metadata, "title", None) or "").strip()
    except InputError:
        raise
    except Exception as error:  # a damaged file can raise anything in its parser
        cause = f"{type(error).__name__}: {error}"[:200]
        raise InputError(f"{name} cannot be read as PDF: {cause}") from error
    if not any(page.strip() for page in pages):
        raise InputError(
            f"{name} contains no text",
            hint="It may be a scan; run it through text recognition first.",
        )
    return pages, title, warnings


def _pdf_pages(reader: Any, most_pages: int, most_chars: int) -> tuple[list[str], tuple[str, ...]]:
    whole = len(reader.pages)
    pages, warnings, chars = list[str](), list[str](), 0
    deadline = time.monotonic() + SECONDS
    for number in range(min(whole, most_pages)):
        if chars > most_chars or time.monotonic() > deadline:
            break
        try:
            text = reader.pages[number].extract_text()
        except Exception as error:  # noqa: BLE001  # the other pages may be readable
            warnings.append(f"page {number + 1} cannot be read: {type(error).__name__}")
            text = ""
        pages.append(text[: most_chars + 1])
        chars += len(text)
    if len(pages) < whole:
        warnings.append(f"{len(pages):,} of {whole:,} pages were read")
    return pages, tuple(warnings)


# --- HTML: headings, paragraphs, lists, tables and code, without hidden content ----------------

MOST_RULES: Final = 200
"""The maximum number of hiding rules that are evaluated in a page."""

LONGEST: Final = 500
"""The maximum length of a selector in characters; longer ones are ignored."""

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ZERO: Final = re.compile(r"0+(?:\.0+)?(?:[a-z]{1,4}|%)?")


def hides(style: str) -> bool:
    """Return True if style declarations hide the content of an element."""
    values: dict[str, str] = {}
    for declaration in _COMMENT.sub("", style).lower().split(";"):
        name, _, value = declaration.partition(":")
        values[name.strip()] = value.replace("!important", "").strip()
    if values.get("display") == "none" or values.get("visibility") in ("hidden", "collapse"):
        return True
    empty = [
        side for side in ("width", "height", "max-width", "max-height") if _is_zero(values, side)
    ]
    flat = {side.removeprefix("max-") for side in empty}
    clipped = values.get("overflow") in ("hidden", "clip")
    return (
        _is_zero(values, "font-size")
        or _is_zero(values, "opacity")
        or len(flat) == 2
        or bool(flat and clipped)
    )


def is_hidden(attributes: Mapping[str, str | None]) -> bool:
    """Return True if the attributes of an element hide its content."""
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    sizes = (attributes.get("width"), attributes.get("height"))
    if all(size is not None and _ZERO.fullmatch(size.strip().lower()) for size in sizes):
        return True
    return hides(attributes.get("style") or "")


def nodes_hidden_by_rules(page: Any) -> frozenset[int]:
    """Return the memory ids of the nodes that the style sheets of a page hide."""
    found: set[int] = set()
    left = MOST_RULES
    for sheet in page.css("style"):
        for selector, style in _rules(sheet.text()):
            if left <= 0:
                return frozenset(found)
            if len(selector) > LONGEST or not hides(style):
                continue
            left -= 1
            try:
                found.update(node.mem_id for node in page.css(selector))
            except (ValueError, RuntimeError):  # invalid or unsupported selector
                continue
    return frozenset(found)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the unconditional rules of a sheet; rules for printing and such are skipped."""
    depth = 0
    selector = ""
    for piece in re.split(r"([{}])", _COMMENT.sub("", sheet)):
        if piece == "{":
            depth += 1
        elif piece == "}":
            depth = max(0, depth - 1)
        elif depth == 0:
            selector = piece.rpartition(";")[2].strip()
        elif depth == 1 and selector and not selector.startswith("@"):
            yield selector, piece


def _is_zero(values: Mapping[str, str], name: str) -> bool:
    return _ZERO.fullmatch(values.get(name, "")) is not None


DEEPEST: Final = 5_000
"""The maximum nesting depth; HTML parsers take quadratic time beyond it."""

_SKIPPED: Final = frozenset(
    """
    script style template noscript svg math iframe object select head
    """.split()  # noqa: SIM905  # a list of words
)
_BLOCKS: Final = frozenset(
    """
    address article aside blockquote body caption center dd details dialog div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main menu nav ol p pre
    section summary table tbody tfoot thead tr ul
    """.split()  # noqa: SIM905  # a list of words
)
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_CLOSED_BY_OTHERS: Final = frozenset(
    """
    area base br col dd dt embed hr img input li link meta option p param source td th tr
    track wbr
    """.split()  # noqa: SIM905  # a list of words
)
_BLANKS: Final = re.compile(r"[ \t\n\r\f\u00a0]+")


def html_text(html: str, name: str) -> tuple[str, str]:
    """
    Return the text of an HTML page as Markdown, and its title.

    Args:
        html: The page.
        name: The name of the page in errors.

    Raises:
        InputError: Its elements are nested too deeply.
        MissingExtra: The HTML parser is not installed.
    """
    _check_depth(html, name)
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise MissingExtra("selectolax", "documents") from error
    page = LexborHTMLParser(html)
    title = page.css_first("title")
    named = _BLANKS.sub(" ", title.text()).strip() if title is not None else ""
    writer = _Writer(nodes_hidden_by_rules(page))
    if page.body is not None:
        writer.walk(page.body)
    return writer.text, named


def _check_depth(html: str, name: str) -> None:
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() in _CLOSED_BY_OTHERS:
            continue
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > DEEPEST:
            raise InputError(f"{name} has elements nested more than {DEEPEST:,} deep")


class _Writer:
    """Writes the elements of a page, one after another, as lines of text."""

    def __init__(self, hidden: frozenset[int] = frozenset()) -> None:
        self._hidden = hidden
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._start = ""
        self._pre = 0

    @property
    def text(self) -> str:
        self._end_block()
        return "\n\n".join(self._blocks)

    def walk(self, top: Any) -> None:
        """Visit all nodes below one, without recursion: pages may be nested deeply."""
        node = top.child
        while node is not None:
            entered = self._enter(node)
            if entered and node.child is not None:
                node = node.child
                continue
            if entered:
                self._leave(node)
            while node.next is None:
                node = node.parent
                if node is None or node.mem_id == top.mem_id:
                    return
                self._leave(node)
            node = node.next

    def _enter(self, node: Any) -> bool:
        """Write the start of a node; return True if its children are written, too."""
        tag = node.tag
        if node.is_text_node:
            self._line.append(node.text_content or "")
            return False
        if not node.is_element_node or tag in _SKIPPED:
            return False
        if node.mem_id in self._hidden or is_hidden(node.attributes):
            return False
        if tag == "br":
            self._line.append("\n" if self._pre else " ")
        elif tag in ("td", "th") and any(self._line):
            self._line.append(" | ")
        elif tag in _BLOCKS:
            self._end_block()
            self._pre += tag == "pre"
            if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
                self._start = "#" * int(tag[1]) + " "
            elif tag == "li":
                self._start = "- "
        return True

    def _leave(self, node: Any) -> None:
        if node.tag in _BLOCKS:
            self._end_block()
            self._pre -= node.tag == "pre"

    def _end_block(self) -> None:
        words = "".join(self._line)
        self._line.clear()
        if self._pre:
            words = f"```\n{words.strip(chr(10))}\n```" if words.strip() else ""
        else:
            words = _BLANKS.sub(" ", words).strip()
        if words:
            self._blocks.append(self._start + words)
            self._start = ""
