"""Web pages as text: headings, paragraphs, lists, tables and code, without what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from foldline.errors import InputError, MissingExtra

MOST_RULES: Final = 200
"""So many rules that hide something are looked up in a page."""

LONGEST: Final = 500
"""A selector has no more characters; a longer one is not looked up."""

_COMMENT: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ZERO: Final = re.compile(r"0+(?:\.0+)?(?:[a-z]{1,4}|%)?")


def hides(style: str) -> bool:
    """Return True if these declarations hide what is in an element."""
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
    """Return True if the attributes of an element hide what is in it."""
    if "hidden" in attributes or (attributes.get("aria-hidden") or "").strip().lower() == "true":
        return True
    sizes = (attributes.get("width"), attributes.get("height"))
    if all(size is not None and _ZERO.fullmatch(size.strip().lower()) for size in sizes):
        return True
    return hides(attributes.get("style") or "")


def nodes_hidden_by_rules(page: Any) -> frozenset[int]:
    """Return the nodes that the style sheets in a page hide, by their memory ids."""
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
            except (ValueError, RuntimeError):  # no selector, or one that is not known here
                continue
    return frozenset(found)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield the rules of a sheet that count everywhere; those for printing and such do not."""
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
"""Elements inside each other; parsers of HTML take quadratic time for more."""

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
    Return the text of a web page as Markdown, and its title.

    Args:
        html: The page.
        name: What errors call it.

    Raises:
        InputError: Its elements are nested too deeply.
        MissingExtra: What parses it is not installed.
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
            raise InputError(f"{name} has more than {DEEPEST:,} elements inside each other")


class _Writer:
    """Writes the elements of a page, one after the other, as lines of text."""

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
        """Go through all nodes below one, without recursion: pages may be nested deeply."""
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
        """Write the beginning of a node; return True if what is in it is written too."""
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
