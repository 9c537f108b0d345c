"""
Unwrap: from a model's answer to its account, without the block that it thought in.

A tag in prose is not a tag: the block to think in may quote the tags of the account, and the
account may quote both. What cannot be told apart with certainty is a failure, never a guess.
"""

from __future__ import annotations

import re

from foldline.strategies.templates import Template

_FENCED = re.compile(r"\A\s*```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)
_MARKUP = re.compile(r"</?[^<>\n]{1,60}>|^#+ .*$|[\s*_`\d.:\uff1a-]+", re.MULTILINE)


def unwrap(answer: str, template: Template) -> str:
    """
    Take the account out of an answer.

    Args:
        answer: What the model wrote.
        template: What it was told to write.

    Raises:
        ValueError: It cannot be told where the account begins or ends; says what is missing.
    """
    if template.parse is not None:
        return template.parse(answer).strip()
    fenced = _FENCED.match(answer)
    text = (fenced.group(1) if fenced else answer).strip()
    for tag in template.scratch:
        text = _without(text, tag, template.wrapper)
    for tag in template.wrapper:
        inner = _inside(text, tag)
        if inner is not None:
            return inner.strip()
    return text.strip()


def is_bare(account: str) -> bool:
    """Tell whether there is nothing in an account but tags, headings and numbers."""
    return not _MARKUP.sub("", account)


def _without(text: str, scratch: str, wrappers: tuple[str, ...]) -> str:
    """Take off the block to think in, which comes first where there is one."""
    begin = re.search(rf"^[ \t]*<{scratch}>", text, re.MULTILINE)
    if begin is None or _opens_before(text, begin.start(), wrappers):
        return text
    inside = text[begin.end() :]
    for wrapper in wrappers:
        # The end that the account follows; an end that is quoted inside is none.
        end = re.search(rf"</{scratch}>\s*(?=<{wrapper}>)", inside)
        if end is not None:
            return inside[end.end() :]
    end = re.search(rf"</{scratch}>[ \t]*$", inside, re.MULTILINE)
    end = end or re.search(rf"</{scratch}>", inside)
    if end is not None:
        return inside[end.end() :]
    if any(_is_alone(inside, wrapper) for wrapper in wrappers):
        return inside
    raise ValueError(f"the block <{scratch}> is not closed")


def _opens_before(text: str, position: int, wrappers: tuple[str, ...]) -> bool:
    starts = (re.search(rf"^[ \t]*<{tag}>", text, re.MULTILINE) for tag in wrappers)
    return any(start is not None and start.start() < position for start in starts)


def _is_alone(text: str, tag: str) -> bool:
    """Tell whether exactly one line begins the account, and the answer ends with its end."""
    starts = re.findall(rf"^[ \t]*<{tag}>", text, re.MULTILINE)
    return len(starts) == 1 and text.rstrip().endswith(f"</{tag}>")


def _inside(text: str, tag: str) -> str | None:
    """Return what stands in a tag; None when no line begins with it."""
    begin = re.search(rf"^[ \t]*<{tag}>", text, re.MULTILINE)
    if begin is None:
        return None
    end = text.rfind(f"</{tag}>")
    if end < begin.end():
        raise ValueError(f"the block <{tag}> is not closed")
    return text[begin.end() : end]
