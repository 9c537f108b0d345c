"""What every tool returns, whether it went well or not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from foldline.errors import InputError
from foldline.frozen import field, frozen

Status: TypeAlias = Literal["success", "partial", "error"]


class ErrorCode(StrEnum):
    """What kind of error it was, for programs; the text says it to the model."""

    INVALID_ARGUMENTS = "invalid_arguments"
    NOT_FOUND = "not_found"
    ALREADY_EXISTS = "already_exists"
    CONFLICT = "conflict"
    DENIED = "denied"
    NEEDS_APPROVAL = "needs_approval"
    NOT_TEXT = "not_text"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    CANCELLED = "cancelled"
    UNSUPPORTED = "unsupported"
    EXECUTION = "execution"
    INTERNAL = "internal"


@frozen
class ToolOutput:
    """
    The result of one call.

    ``text`` is what the model reads. ``status`` is "success", "partial" when something of what was
    asked for is missing, or "error"; then ``code`` says which kind. ``data`` is the same as JSON
    values, for programs; ``stats`` are figures about the call, such as seconds or bytes. What is
    ``pinned`` is to stay in sight for good; an agent pins the message that holds it.

    Raises:
        InputError: There is no such status, or a code without an error.
    """

    text: str
    status: Status = "success"
    code: ErrorCode | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    pinned: bool = False

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise InputError(f"there is no status {str(self.status)[:40]!r}", field="status")
        if (self.status == "error") != (self.code is not None):
            raise InputError("an error has a code, and nothing else has one", field="code")

    @classmethod
    def error(cls, code: ErrorCode, text: str, **data: Any) -> Self:
        """
        Return an error.

        Args:
            code: Its kind.
            text: What is wrong and what to do, for the model.
            **data: The same for programs.
        """
        return cls(text, "error", code, data)

    @property
    def ok(self) -> bool:
        """Whether at least a part of it went well."""
        return self.status != "error"

    def to_dict(self) -> dict[str, Any]:
        """Return the output as JSON values."""
        out: dict[str, Any] = {"status": self.status, "text": self.text}
        if self.code is not None:
            out["code"] = self.code.value
        if self.pinned:
            out["pinned"] = True
        return out | {name: dict(v) for name in NAMED if (v := getattr(self, name))}

    @classmethod
    def from_dict(cls, value: Any) -> Self:
        """
        Read what `to_dict` returned.

        Raises:
            InputError: It is something else; the error names the field.
        """
        if not isinstance(value, Mapping):
            raise InputError("a tool output is an object")
        text, code = value.get("text", ""), value.get("code")
        if not isinstance(text, str):
            raise InputError("the text of a tool output is a text", field="text")
        if code is not None and code not in list(ErrorCode):
            raise InputError(f"there is no error code {str(code)[:40]!r}", field="code")
        named = {name: value.get(name, {}) for name in NAMED}
        for name, inner in named.items():
            if not isinstance(inner, Mapping):
                raise InputError(f"the {name} of a tool output are an object", field=name)
        status = value.get("status", "success")
        kind = None if code is None else ErrorCode(code)
        return cls(text, status, kind, **named, pinned=value.get("pinned") is True)

    def to_json(self) -> str:
        """Return the output as JSON text; what is no JSON value in it is shown by its repr."""
        return json.dumps(self.to_dict(), ensure_ascii=False, default=repr)


NAMED: Final = ("data", "stats")
