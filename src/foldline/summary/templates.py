"""Templates: what a model is asked to write, by name, in English and in Chinese."""

from __future__ import annotations

import tomllib
from pkgutil import get_data
from typing import Any

from foldline.frozen import frozen
from foldline.relevance.language import CHINESE, Language


@frozen
class Template:
    """
    What a model is asked to write.

    ``prompt`` goes to the model as it is: braces in it mean nothing. ``sections`` are texts that
    an answer must have to be accepted, in any case of letters. ``scratch`` names tags of a block
    to think in, which is taken off, ``wrapper`` tags of the block that holds the account.
    ``chinese`` is the same for conversations in Chinese.
    """

    name: str
    prompt: str
    sections: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    chinese: Template | None = None


def read_texts(name: str) -> dict[str, dict[str, Any]]:
    """Return the tables of a file with texts beside this module."""
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
"""What a template is called that is given as a text."""


def template(name: str, language: Language | None) -> Template:
    """
    Return a template in the language of the user.

    Args:
        name: The name of a template, or the text of one's own.
        language: Of the user, None when it is not known.
    """
    chosen = TEMPLATES.get(name) or Template(OWN, name)
    return chosen.chinese if language == CHINESE and chosen.chinese is not None else chosen
