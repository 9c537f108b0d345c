"""The output of every tool, for success and failure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, Self, TypeAlias, get_args

from foldline.errors import InputError
from foldline.frozen import field, frozen

Status: TypeAlias = Literal["success", "partial", "error"]


class ErrorCode(StrEnum):
    """The kind of an error, for programs; the text is for the model."""

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

    ``text`` is for the model. ``status`` is "success", "partial" if a part of the requested output
    is missing, or "error", with its kind in ``code``. ``data`` is the same as JSON values, for
    programs; ``stats`` are figures about the call, such as seconds or bytes. A ``pinned`` output
    is to stay in view permanently; an agent pins its message.

    Raises:
        InputError: The status is unknown, or there is a code without an error.
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
            raise InputError("an error needs a code, other outputs have none", field="code")

    @classmethod
    def error(cls, code: ErrorCode, text: str, **data: Any) -> Self:
        """
        Return an error.

        Args:
            code: The kind of the error.
            text: What is wrong and what to do next, for the model.
            **data: The same as JSON values, for programs.
        """
        return cls(text, "error", code, data)

    @property
    def ok(self) -> bool:
        """Return True if the call succeeded at least partially."""
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
            InputError: It is not such a value; the error names the field.
        """
        if not isinstance(value, Mapping):
            raise InputError("a tool output must be an object")
        text, code = value.get("text", ""), value.get("code")
        if not isinstance(text, str):
            raise InputError("the text of a tool output must be a string", field="text")
        if code is not None and code not in list(ErrorCode):
            raise InputError(f"there is no error code {str(code)[:40]!r}", field="code")
        named = {name: value.get(name, {}) for name in NAMED}
        for name, inner in named.items():
            if not isinstance(inner, Mapping):
                raise InputError(f"the {name} of a tool output must be an object", field=name)
        status = value.get("status", "success")
        kind = None if code is None else ErrorCode(code)
        return cls(text, status, kind, **named, pinned=value.get("pinned") is True)

    def to_json(self) -> str:
        """Return the output as JSON text, with the repr of values that are not JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, default=repr)


NAMED: Final = ("data", "stats")
