"""What came of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from foldline.tools.approvals import ApprovalRequest

Status: TypeAlias = Literal["ok", "failed", "refused", "needs_approval", "timeout", "error"]


@dataclass(frozen=True, slots=True)
class Ran:
    """
    What came of a command line; nothing of it has to be caught.

    ``status`` is "ok", "failed" when the last command ended with another code than 0, "refused",
    "needs_approval" when a person has not allowed it, "timeout", or "error" when it could not be
    run. ``stdout`` and ``stderr`` are safe to show and no longer than the limit; the whole is kept
    under ``handle``. ``codes`` are those of the last pipeline. ``sandbox`` is what confined it,
    ``directory`` where the terminal is now, as seen from the workspace.
    """

    status: Status
    command: str
    stdout: str = ""
    stderr: str = ""
    codes: tuple[int | None, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    handle: str = ""
    truncated: bool = False
    sandbox: str = ""
    directory: str = "."
    seconds: float = 0.0
    request: ApprovalRequest | None = None

    @property
    def ok(self) -> bool:
        """Whether it was run to its end, whatever its code."""
        return self.status in {"ok", "failed"}

    @property
    def code(self) -> int | None:
        """The code of the last command, None when there is none."""
        return self.codes[-1] if self.codes else None

    @property
    def text(self) -> str:
        """All of it, as a model reads it."""
        parts = []
        if self.status == "refused":
            parts.append(f"Refused: {self.reason}")
        elif self.status == "needs_approval":
            parts.append(f"Needs approval: {self.reason}")
        elif self.reason:
            parts.append(self.reason)
        parts += [self.stdout.rstrip("\n"), *self._errors()]
        if self.status == "failed":
            parts.append(f"[exit code {self.code}]")
        parts += [f"[{note}]" for note in self.notes]
        return "\n".join(part for part in parts if part) or "(no output)"

    def _errors(self) -> list[str]:
        text = self.stderr.rstrip("\n")
        return [f"[stderr]\n{text}"] if text else []

    def to_dict(self) -> Mapping[str, Any]:
        """Return it as JSON values, without the texts."""
        return {
            "status": self.status,
            "command": self.command,
            "codes": list(self.codes),
            "reason": self.reason,
            "handle": self.handle,
            "truncated": self.truncated,
            "sandbox": self.sandbox,
            "directory": self.directory,
            "seconds": round(self.seconds, 3),
        }
