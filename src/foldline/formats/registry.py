"""The dialects by name, each loaded on first use, and detection of a value's dialect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from foldline.core.validation import suggest_name
from foldline.errors import InputError, UnknownFormat
from foldline.formats.dialect import Dialect

Made = TypeVar("Made")


class OnDemand(Mapping[str, Made], Generic[Made]):
    """
    A mapping that creates each object on first lookup.

    Args:
        classes: The module and the class by name; the order is kept.
    """

    def __init__(self, classes: Mapping[str, tuple[str, str]]) -> None:
        self._classes = classes
        self._made: dict[str, Made] = {}

    def __getitem__(self, name: str) -> Made:
        if name not in self._made:
            module, class_name = self._classes[name]
            made: Any = getattr(import_module(module), class_name)()
            self._made[name] = made
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


_CLASSES = {
    "openai-chat": ("foldline.formats.openai_chat", "OpenAIChatDialect"),
    "openai-responses": ("foldline.formats.openai_responses", "OpenAIResponsesDialect"),
    "anthropic": ("foldline.formats.anthropic", "AnthropicDialect"),
    "gemini": ("foldline.formats.gemini", "GeminiDialect"),
    "langchain": ("foldline.formats.langchain", "LangChainDialect"),
    "pydantic-ai": ("foldline.formats.pydantic_ai", "PydanticAIDialect"),
}


DIALECTS: Mapping[str, Dialect] = OnDemand(_CLASSES)
"""All dialects, the most common first."""


def dialect(name: str) -> Dialect:
    """
    Return the dialect with a name.

    Raises:
        UnknownFormat: There is none; the message lists the known names.
    """
    return by_name(DIALECTS, name, "wire format")


def by_name(known: Mapping[str, Made], name: str, what: str) -> Made:
    """
    Return the value with a name.

    Raises:
        UnknownFormat: There is none; the message lists the known names.
    """
    if name in known:
        return known[name]
    hint = f"{suggest_name(name, known)}Known: {', '.join(known)}."
    raise UnknownFormat(f"There is no {what} {name[:100]!r}", hint=hint)


KEYS = ("messages", "contents", "input", "values")
"""The fields of request bodies and thread states that hold messages."""

_PLAIN = {"role", "content"}
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_HINT = f"Name the format; known: {', '.join(DIALECTS)}."


def detect_dialect(wire: Any) -> Dialect:
    """
    Return the dialect with the highest confidence for a value; at a tie the more common one.

    Args:
        wire: A list of messages, a request body or a thread state.

    Raises:
        UnknownFormat: No dialect recognises it; the error names the problem and the message.
    """
    return detect_with_score(wire)[0]


def detect_with_score(wire: Any) -> tuple[Dialect, float]:
    """Return the dialect of a value and the confidence, from 0 to 1; see `detect_dialect`."""
    best, surest = None, 0.0
    for dialect in DIALECTS.values():  # each is imported on access: stop as soon as one is certain
        sure = dialect.recognises(wire)
        if sure > surest:
            best, surest = dialect, sure
        if surest == 1.0 or (best and _is_plain(wire)):
            break
    if best is None:
        raise _problem(wire)
    return best, surest


def _is_plain(wire: Any) -> bool:
    """Return True if messages hold only a role and text: they are in the most common dialect."""
    return isinstance(wire, list) and all(
        isinstance(item, dict) and item.keys() == _PLAIN and isinstance(item["content"], str)
        for item in wire
    )


def _problem(wire: Any) -> InputError:
    items = wire
    if isinstance(wire, dict):
        key = next((key for key in KEYS if key in wire), None)
        if key is None:
            names = ", ".join(KEYS)
            return UnknownFormat(f"The object has none of the fields {names}", hint=_HINT)
        items = wire[key].get("messages") if isinstance(wire[key], dict) else wire[key]
        if not isinstance(items, list):
            return UnknownFormat("the messages are not a list", field=key, hint=_HINT)
    if not isinstance(items, list):
        return UnknownFormat(
            f"A conversation is a list of messages or a request body, not {type(wire).__name__}",
            hint="Give a list of messages.",
        )
    if not items:
        return UnknownFormat("The conversation is empty", hint="Give at least one message.")
    problems = (message_problem(item, index) for index, item in enumerate(items))
    fits_none = UnknownFormat("The messages fit no known format", hint=_HINT)
    return next((problem for problem in problems if problem is not None), fits_none)


def message_problem(item: Any, index: int) -> InputError | None:
    """Return what is wrong with a message in every format, None where one accepts it."""
    # Imported here: a known message does not need it.
    from foldline.formats.langchain_shapes import TYPES, shape_of

    field = "role" if isinstance(item, dict) and "role" in item else "type"
    if not isinstance(item, dict):
        if shape_of(item) == "object":
            return None
        problem, field = f"a message is an object, not {type(item).__name__}", ""
    elif field not in item:
        problem, field = "the role is missing", "role"
    elif not isinstance(item[field], str):
        problem = f"the {field} is not a string"
    elif item[field] not in _ROLES and item[field] not in TYPES:
        problem = f"unknown {field} {item[field][:40]!r}"
    else:
        return None
    return UnknownFormat(problem, index=index, field=field, hint=_HINT)
