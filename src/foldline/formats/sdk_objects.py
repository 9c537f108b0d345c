"""What SDKs return, as the JSON values that their providers take back; no SDK is imported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import NoneType
from typing import Any, Final

from foldline.errors import InputError
from foldline.formats.fields import bounded_nesting
from foldline.values.plain_json import DEEPEST

_LEAVES: Final = frozenset({str, int, float, bool, NoneType})


def to_json(value: Any) -> Any:
    """
    Return messages, or anything in them, with JSON values in the place of Pydantic's models.

    Fields that are null or were never set are left out, as the SDKs do when they send a model.
    Tuples and iterators become lists. Messages of LangChain, which have a dialect of their own,
    and what is no model stay as they are.

    Args:
        value: Messages, a request body, a message, a content block, an item or an answer.

    Returns:
        The value itself where nothing in it had to change.

    Raises:
        InputError: A model cannot be written as JSON.
    """
    with bounded_nesting():
        return _to_json(value, DEEPEST)


def _to_json(value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        changed = _changed(dict.items(value), depth)
        return {**value, **changed} if changed else value
    if isinstance(value, list):
        changed = _changed(enumerate(list.__iter__(value)), depth)
        return [changed.get(at, item) for at, item in enumerate(value)] if changed else value
    if isinstance(value, (tuple, Iterator)):
        return _to_json(list(value), depth)
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return value
    # Imported here: a conversation of JSON values does not need it.
    from foldline.formats.langchain_shapes import shape_of

    if shape_of(value) == "object":
        return value
    try:
        # What an SDK keeps for its user alone it names itself, such as a parsed answer.
        private = getattr(value, "__api_exclude__", None)
        return dump(
            mode="json",
            by_alias=True,
            exclude=private,
            exclude_unset=True,
            exclude_none=True,
            warnings=False,
        )
    except RecursionError:
        raise
    except Exception as error:
        raise InputError(
            f"an object of the type {type(value).__name__} cannot be written as JSON",
            hint="Give its fields as a dict.",
        ) from error


def _changed(members: Iterable[tuple[Any, Any]], depth: int) -> dict[Any, Any]:
    """Return what becomes of the members that do not stay as they are, by key or position."""
    return {
        key: new
        for key, value in members
        if depth
        and type(value) not in _LEAVES
        and (new := _to_json(value, depth - 1)) is not value
    }
