"""What a web page hides by its styles: text that no reader of the page sees."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MOST_RULES: Final = 200
"""So many rules that hide something are looked up in a page."""

LONGEST: Final = 500
"""A selector has no more characters; a longer one is not looked up."""

_COMMENT: Final = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/")
_ZERO: Final = re.compile(r"0+(?:\.0+)?(?:[a-z]{1,4}|%)?")


def hides(style: str) -> bool:
    """Return True if these declarations hide what is in an element."""
    said: dict[str, str] = {}
    for declaration in _COMMENT.sub("", style).lower().split(";"):
        name, _, value = declaration.partition(":")
        said[name.strip()] = value.replace("!important", "").strip()
    if said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse"):
        return True
    empty = [
        side for side in ("width", "height", "max-width", "max-height") if _is_zero(said, side)
    ]
    flat = {side.removeprefix("max-") for side in empty}
    clipped = said.get("overflow") in ("hidden", "clip")
    return (
        _is_zero(said, "font-size")
        or _is_zero(said, "opacity")
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


def hidden_by_rules(page: Any) -> frozenset[int]:
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


def _is_zero(said: Mapping[str, str], name: str) -> bool:
    return _ZERO.fullmatch(said.get(name, "")) is not None
