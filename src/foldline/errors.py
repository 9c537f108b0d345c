"""
Every error that Foldline raises, in one tree, grouped by what a caller does next.

    FoldlineError
    ├─ InputError            the conversation is malformed: fix the named message and field
    │  └─ UnknownFormat      no format recognised the input: name one
    ├─ BudgetError           the numbers contradict each other: change the configuration
    ├─ CannotFit             what must stay is larger than the budget: raise it, or unpin
    ├─ ContextOverflow       the provider said "too long", and nothing smaller can be sent
    ├─ ModelError            a model gave no answer: try again if ``retry``, else fix the request
    ├─ RecallError           the handle is unknown or ambiguous: use one that a receipt names
    ├─ StoreError            the archive is missing, locked, too new or damaged
    └─ MissingExtra          an optional package is not installed: the message has the command
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


class FoldlineError(Exception):
    """
    Base class of all errors raised by Foldline.

    Args:
        message: One sentence: what is wrong and where.
        hint: One sentence: what to do next.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        stop = "" if self.message.endswith((".", "!", "?", ":")) or not self.hint else "."
        return f"{self.message}{stop} {self.hint}".strip()


class InputError(FoldlineError):
    """
    The conversation cannot be read.

    Args:
        message: What is wrong.
        index: Position of the message, counted from 0; None for the whole input.
        field: Path of the field in that message, such as ``tool_calls[0].id``.
        hint: What to do next.
    """

    def __init__(
        self, message: str, *, index: int | None = None, field: str = "", hint: str = ""
    ) -> None:
        where = "" if index is None else f"message {index}"
        if field:
            where = f"{where}, field {field}" if where else f"field {field}"
        super().__init__(f"{where}: {message}" if where else message, hint=hint)
        self.index = index
        self.field = field


class UnknownFormat(InputError):
    """No known format recognised the input."""


class BudgetError(FoldlineError):
    """The configured numbers contradict each other."""


class CannotFit(FoldlineError):
    """
    The protected messages are larger than the budget.

    Args:
        message: What was attempted.
        needed: Tokens of the irreducible part.
        budget: The allowed tokens.
    """

    def __init__(self, message: str, *, needed: int, budget: int) -> None:
        super().__init__(message, hint=f"Raise the budget to at least {needed:,} tokens.")
        self.needed = needed
        self.budget = budget


class ContextOverflow(FoldlineError):
    """
    A provider rejected a request as too long, and nothing strictly smaller can be sent.

    Args:
        message: What was attempted.
        breakdown: The irreducible part in tokens, by "system and tools", "task", "latest",
            "pinned", "unread", "pending" and "other".
        limit: The provider's real limit in tokens, None if it did not report one.
        hint: What to do next.
    """

    def __init__(
        self,
        message: str,
        *,
        breakdown: Mapping[str, int],
        limit: int | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.breakdown = dict(breakdown)
        self.limit = limit


class ModelError(FoldlineError):
    """
    A model gave no answer.

    Args:
        message: The error of the provider or the network, never with a key in it.
        status: The HTTP status, None if there was no response.
        code: The provider's own code, "" if there is none.
        retry: Whether the same request may succeed later.
        wait: Seconds to wait before that, None if the provider did not specify it.
        hint: What to do next.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        retry: bool = False,
        wait: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.retry = retry
        self.wait = wait


class RecallError(FoldlineError):
    """A handle is unknown, ambiguous, or the requested slice does not exist."""


class StoreError(FoldlineError):
    """
    The archive is missing, locked, written by a newer version, or damaged.

    Args:
        message: What is wrong.
        hint: What to do next.
        damaged: Whether stored content cannot be read as it was written.
        session: The damaged session, "" if there is none or it is unknown.
    """

    def __init__(
        self, message: str, *, hint: str = "", damaged: bool = False, session: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.damaged = damaged
        self.session = session


class MissingExtra(FoldlineError):
    """
    An optional package is not installed.

    Args:
        package: The missing package.
        extra: The extra of Foldline that installs it.
        command: The install command, if no extra exists.
    """

    def __init__(self, package: str, extra: str, *, command: str = "") -> None:
        super().__init__(
            f"The package {package} is not installed.",
            hint="Run: " + (command or f"pip install 'foldline[{extra}]'"),
        )


UNREADABLE: Final = (
    InputError,
    LookupError,
    AttributeError,
    TypeError,
    ValueError,
    ArithmeticError,
    RecursionError,
)
"""Exceptions raised when malformed data is interpreted."""
