"""Templates of summaries: the prompts by name, in English and in Chinese."""

from __future__ import annotations

import tomllib
from pkgutil import get_data
from typing import Any

from foldline.frozen import frozen
from foldline.relevance.language import CHINESE, Language


@frozen
class Template:
    """
    The prompt for an account, and the form of the answer.

    ``prompt`` is sent unchanged: braces in it have no effect. ``sections`` are texts that
    an answer must contain to be accepted, in any case. ``scratch`` are the tags of a block
    for thinking, which is removed, ``wrapper`` the tags of the block that holds the account.
    ``chinese`` is the template for conversations in Chinese.
    """

    name: str
    prompt: str
    sections: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    chinese: Template | None = None


def read_texts(name: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a TOML file in this package."""
    return tomllib.loads((get_data("foldline.summary", name) or b"").decode("utf-8"))


def _template(name: str, fields: dict[str, Any]) -> Template:
    values: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()
    }
    if "chinese" in values:
        values["chinese"] = _template(name, values["chinese"])
    return Template(name, **values)


TEMPLATES = {name: _template(name, found) for name, found in read_texts("templates.toml").items()}
"""The templates by name."""

OWN = "own"
"""The name of a template that is given as a text."""


def template(name: str, language: Language | None) -> Template:
    """
    Return a template in the language of the user.

    Args:
        name: The name of a template, or the text of your own.
        language: The language of the user, None if unknown.
    """
    chosen = TEMPLATES.get(name) or Template(OWN, name)
    return chosen.chinese if language == CHINESE and chosen.chinese is not None else chosen
