"""Settings in the environment: FOLDLINE_THRESHOLDS__ACT_AT=0.7 is thresholds.act_at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_origin

from foldline.core.config import Config
from foldline.core.settings_codec import Leaf, leaves, optional
from foldline.errors import BudgetError

PREFIX: Final = "FOLDLINE_"

NO_SETTINGS: Final = (
    "FOLDLINE_HOME",
    "FOLDLINE_DEBUG",
    "FOLDLINE_MAX_BYTES",
    "FOLDLINE_MODELS",
    "FOLDLINE_NOTES",
    "FOLDLINE_SERVE_TOKEN",
    "FOLDLINE_TOKEN",
)
"""Variables of Foldline that mean something else."""

_SWITCH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def variable(key: str) -> str:
    """Return the name of the variable for a dotted key."""
    return PREFIX + key.upper().replace(".", "__")


def said_in_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """
    Yield what the environment says, by dotted keys; unknown ones too.

    Raises:
        BudgetError: A value is not of the type of its setting.
    """
    known = {leaf.key: leaf for leaf in leaves(Config)}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in NO_SETTINGS:
            key = name.removeprefix(PREFIX).lower().replace("__", ".")
            leaf, text = known.get(key), environ[name]
            what = f"The environment variable {name}"
            yield key, text if leaf is None else read_text(leaf, text, what)


def read_text(leaf: Leaf, text: str, what: str) -> Any:
    """
    Read a text as what its setting is.

    Args:
        leaf: The setting.
        text: Its value as people write it; lists have commas between their items.
        what: What errors call it; they do not repeat the text, it may be anything.

    Raises:
        BudgetError: It is of another type.
    """
    kind, may_be_none = optional(leaf.type)
    word = text.strip()
    if may_be_none and word.lower() in ("", "none"):
        return None
    if get_origin(kind) is tuple:
        return tuple(item.strip() for item in word.split(",") if item.strip())
    try:
        if kind is bool:
            return _SWITCH[word.lower()]
        return kind(word) if kind in (int, float) else word
    except (KeyError, ValueError) as error:
        wanted = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
        raise BudgetError(
            f"{what} must be {wanted}.", hint="Change it, or leave it out."
        ) from error
