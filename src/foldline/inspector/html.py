"""HTML as values: all text is escaped on entry, and only this file writes tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Final, TypeAlias

from foldline.errors import FoldlineError

VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta"})
"""Elements without content and end tag."""

_RANGES: Final = (
    *((0x00, 0x08), (0x0B, 0x0B), (0x0E, 0x1F), (0x7F, 0x9F), (0x061C, 0x061C), (0x200B, 0x200F)),
    *((0x202A, 0x202E), (0x2060, 0x206F), (0xD800, 0xDFFF), (0xFEFF, 0xFEFF), (0xE0000, 0xE007F)),
)
_INVISIBLE: Final = frozenset(code for first, last in _RANGES for code in range(first, last + 1))
"""Characters that are invisible or change the direction of the following text."""

_SIGN: Final = "\uf8ff"
"""Marks the number of a replaced character; the mark itself is always replaced."""

_JOINERS: Final = frozenset((0x200C, 0x200D))
"""Joiners that words of several scripts, and emoji, need."""

_MARKED: Final = {code: f"{_SIGN}{code:04X};" for code in (_INVISIBLE | {ord(_SIGN)}) - _JOINERS}


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Child: TypeAlias = "str | int | Iterable[Child] | None"
Value: TypeAlias = str | int | float | bool | None


def h(name: str, /, *children: Child, **attributes: Value) -> Html:
    """
    Write an element.

    Args:
        name: Name of the element.
        children: Texts (escaped), elements, and lists of both; None is skipped.
        attributes: Attributes by name; ``_`` becomes ``-`` and is dropped at the end. True writes
            the name only; None and False write nothing.
    """
    head = "".join(_attributes(attributes))
    if name in VOID:
        return Html(f"<{name}{head}>")
    return Html(f"<{name}{head}>{''.join(_texts(children))}</{name}>")


def rect(x: Value, y: Value, width: Value, height: Value, *children: Child, class_: str) -> Html:
    """Write a rectangle of a drawing."""
    return h("rect", *children, x=x, y=y, width=width, height=height, class_=class_)


def join(*children: Child) -> Html:
    """Concatenate elements and texts."""
    return Html("".join(_texts(children)))


def visible(text: str) -> Html:
    """
    Write a text so that nothing in it hides or reorders the text around it.

    Direction marks, control and zero-width characters are replaced by their code points.
    """
    first, *rest = text.translate(_MARKED).split(_SIGN)
    named = (piece.partition(";") for piece in rest)
    marks = (f'<span class="control">U+{code}</span>{escape(after)}' for code, _, after in named)
    return Html(escape(first) + "".join(marks))


def _texts(children: Iterable[Child]) -> Iterator[str]:
    for child in children:
        if isinstance(child, str):
            yield child if isinstance(child, Html) else visible(child)
        elif isinstance(child, int):
            yield f"{child:,}"
        elif child is not None:
            yield from _texts(child)


def _attributes(attributes: dict[str, Value]) -> Iterator[str]:
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        key = name.rstrip("_").replace("_", "-")
        if key.startswith("on") or key == "style":
            raise FoldlineError(f"Attribute {key} is not allowed: pages have no active content.")
        yield f" {key}" if value is True else f' {key}="{_attribute(value)}"'


def _attribute(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    marks = {code: f"⟦U+{code:04X}⟧" for code in map(ord, str(value)) if code in _INVISIBLE}
    return escape(str(value).translate(marks))
