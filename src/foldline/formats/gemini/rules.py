"""The strict rules of Gemini contents, whose violation the API rejects with status 400."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from foldline.formats.dialect import Violation, check_fields, is_a, is_filled
from foldline.formats.gemini.read import ROLES, get

_BESIDE = frozenset(
    {"thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata"}
)


def violations(contents: Sequence[Any]) -> list[Violation]:
    """
    Check a conversation against the rules.

    Contents and their parts are not empty; roles are user, model or function, user first; a turn
    with function calls follows a user turn or a function response turn; the next turn answers
    these calls, each once and in order, by name and by id if both have one; only the last turn may
    be pending; if calls are signed, the first of them is. A content of only thoughts is not a
    turn: the API does not send thoughts to the model again.
    """
    if not contents:
        return [Violation(0, "contents", "empty", "there are no contents")]
    found: list[Violation] = []
    waiting: list[Any] = []
    role_before = ""
    for index, content in enumerate(contents):
        role = content.get("role") if isinstance(content, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            found.append(Violation(index, "role", "role", f"unknown role {role!r}"))
            role = "user"
        parts = _parts(content)
        found += _shape(parts, index)
        if parts and all(isinstance(part, dict) and part.get("thought") for part in parts):
            continue
        calls, answers = _inner(parts, "functionCall"), _inner(parts, "functionResponse")
        found += _order(role, role_before, calls, index)
        found += _answers(waiting, answers, index)
        found += _signatures(parts, index)
        waiting, role_before = calls, role
    return found


def _parts(content: Any) -> list[Any]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return parts if isinstance(parts, list) else []


def _inner(parts: list[Any], field: str) -> list[Any]:
    found = (get(part, field) for part in parts if isinstance(part, dict))
    return [inner for inner in found if inner is not None]


def _shape(parts: list[Any], index: int) -> Iterator[Violation]:
    if not parts:
        yield Violation(index, "parts", "empty", "the content has no parts")
    for position, part in enumerate(parts):
        field = f"parts[{position}]"
        if not isinstance(part, dict):
            yield Violation(index, field, "type", "the part is not an object")
            continue
        if _is_empty(part):
            yield Violation(index, field, "empty", "the part is empty")
        call, answer = get(part, "functionCall"), get(part, "functionResponse")
        yield from _function(call, "args", index, f"{field}.functionCall")
        yield from _function(answer, "response", index, f"{field}.functionResponse")


def _is_empty(part: dict[str, Any]) -> bool:
    given = {key: value for key, value in part.items() if value is not None}
    if get(part, "thoughtSignature") is not None:
        return False
    return given.keys() <= _BESIDE or (
        given.get("text") == "" and given.keys() <= _BESIDE | {"text"}
    )


def _function(value: Any, data: str, index: int, field: str) -> Iterator[Violation]:
    if isinstance(value, dict):
        checks = (
            ("name", is_filled, "type", "the function has no name"),
            (data, is_a(dict, type(None)), "arguments", f"{data} is not an object"),
            ("id", is_a(str, type(None)), "type", "the id is not a string"),
        )
        yield from check_fields(value, checks, index, field)
    elif value is not None:
        yield Violation(index, field, "type", "the function is not an object")


def _order(role: str, before: str, calls: list[Any], index: int) -> Iterator[Violation]:
    if index == 0 and role != "user":
        yield Violation(0, "role", "order", "the first content must be the user's")
    if calls and role != "model":
        yield Violation(index, "role", "order", "only the model calls functions")
    if calls and (index == 0 or before == "model"):
        text = "function calls must follow a user turn or a function response turn"
        yield Violation(index, "role", "order", text)


def _answers(waiting: list[Any], answers: list[Any], index: int) -> list[Violation]:
    """Compare the answers of a turn with the calls of the previous turn."""
    found = []
    left: dict[str, Counter[str]] = defaultdict(Counter)
    for call in waiting:
        name, number = _names(call)
        left[name][number] += 1
    for answer in answers:
        name, number = _names(answer)
        if not _take(left[name], number):
            text = f"the response of {name!r} answers no call of the previous turn"
            found.append(Violation(index, "parts", "pairing", text))
    if not found and _is_disordered(list(map(_names, waiting)), list(map(_names, answers))):
        text = "the responses are not in the order of their calls"
        found.append(Violation(index, "parts", "order", text))
    for name, numbers in left.items():
        if numbers.total():
            text = f"the call of {name!r} has no response in the next turn"
            found.append(Violation(index - 1, "parts", "pairing", text))
    return found


def _is_disordered(calls: list[tuple[str, str]], answers: list[tuple[str, str]]) -> bool:
    """Return True if answers are not in call order, by id if all have one, else by name."""
    if not all(number for _, number in (*calls, *answers)):
        calls, answers = ([(name, "") for name, _ in some] for some in (calls, answers))
    given = Counter(answers)
    expected = [call for call in calls if given[call] > 0 and not given.subtract([call])]
    return expected != answers


def _names(function: Any) -> tuple[str, str]:
    """Return name and id, each empty if it is missing."""
    if not isinstance(function, dict):
        return "", ""
    name, number = function.get("name"), function.get("id")
    return name if isinstance(name, str) else "", number if isinstance(number, str) else ""


def _take(numbers: Counter[str], number: str) -> bool:
    """Remove one call with this id; a missing id on either side matches any."""
    for candidate in (number, "") if number else tuple(numbers):
        if numbers[candidate]:
            numbers[candidate] -= 1
            return True
    return False


def _signatures(parts: list[Any], index: int) -> Iterator[Violation]:
    calls = [p for p in parts if isinstance(p, dict) and get(p, "functionCall") is not None]
    signed = [get(part, "thoughtSignature") is not None for part in calls]
    if any(signed) and not signed[0]:
        text = "the first of parallel calls must carry the signature"
        yield Violation(index, "parts", "signature", text)
