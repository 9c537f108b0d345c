"""Web pages as text: headings, paragraphs, lists, tables and code, without what is not read."""

from __future__ import annotations

import re
from typing import Any, Final

from foldline.errors import InputError, MissingExtra
from foldline.memory.documents.css import hidden_by_rules, is_hidden

DEEPEST: Final = 5_000
"""Elements inside each other; parsers of HTML take quadratic time for more."""

_SKIPPED: Final = frozenset(
    {
        "script",
        "style",
        "template",
        "noscript",
        "svg",
        "math",
        "iframe",
        "object",
        "select",
        "head",
    }
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
    writer = _Writer(hidden_by_rules(page))
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
        """Write the beginning of a node; tell whether what is in it is written too."""
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
