"""What stays: the verbatim tail, results that are not cleared, and the size of a tool output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from foldline.core.amounts import named, positive, whole
from foldline.core.errors import BudgetError

STYLES = ("head", "tail", "head_tail", "salient")


@dataclass(frozen=True, slots=True)
class Tail:
    """
    What stays verbatim at the end.

    ``fraction`` is of the target for the policies "default" and "salient" (0.10), and of the
    history for "fraction" (0.3); ``newest`` counts groups for "keep_recent" (20) and rounds for
    "rounds" (10). None leaves it to the policy.

    Raises:
        BudgetError: A number is out of range.
    """

    fraction: float | None = None
    newest: int | None = None

    def __post_init__(self) -> None:
        if self.fraction is not None:
            positive("tail.fraction", self.fraction, 1.0)
        if self.newest is not None:
            whole("tail.newest", self.newest)


@dataclass(frozen=True, slots=True)
class Clearing:
    """
    Which old tool results are cleared.

    The newest ``keep`` groups with results keep them. ``only`` names the tools whose results may
    be cleared, None for all; those of ``never`` stay; upper and lower case are the same. Nothing
    is cleared for less than ``gain_tokens`` tokens, or than ``gain_fraction`` of the effective
    window where that is more.

    Raises:
        BudgetError: A number is out of range, or a tool is to be cleared and to be kept.
    """

    keep: int = 4
    only: tuple[str, ...] | None = None
    never: tuple[str, ...] = ()
    gain_tokens: int = 2_000
    gain_fraction: float = 0.05

    def __post_init__(self) -> None:
        whole("clearing.keep", self.keep)
        whole("clearing.gain_tokens", self.gain_tokens)
        positive("clearing.gain_fraction", self.gain_fraction, 1.0)
        for name in ("only", "never"):
            value = getattr(self, name)
            if value is not None and (
                not isinstance(value, tuple) or not all(isinstance(tool, str) for tool in value)
            ):
                raise BudgetError(
                    f"clearing.{name} is a tuple of tool names.", hint='Write it as ("read",).'
                )
        both = {tool.casefold() for tool in self.only or ()} & {t.casefold() for t in self.never}
        if both:
            raise BudgetError(
                f"The tool {min(both)!r} is in clearing.only and in clearing.never.",
                hint="Leave it in one of them.",
            )


@dataclass(frozen=True, slots=True)
class Outputs:
    """
    How large a tool output may be when it is recorded, in tokens, lines and bytes of UTF-8.

    One of more than ``hard`` tokens is cut to ``soft``, by ``style``: its "head", its "tail",
    both ("head_tail"), or the lines that will be needed ("salient"). Of what has more than
    ``lines`` or ``bytes`` then, whole lines are left out. All of it stays recallable.

    Raises:
        BudgetError: ``soft`` is larger than ``hard``, a number is out of range, or there is no
            such style.
    """

    soft: int = 8_000
    hard: int = 20_000
    lines: int = 10_000
    bytes: int = 200_000
    style: Literal["head", "tail", "head_tail", "salient"] = "head_tail"

    def __post_init__(self) -> None:
        whole("outputs.soft", self.soft, 100)
        whole("outputs.hard", self.hard, 100)
        whole("outputs.lines", self.lines, 10)
        whole("outputs.bytes", self.bytes, 1_000)
        named("style", self.style, STYLES)
        if self.soft > self.hard:
            raise BudgetError(
                f"outputs.soft ({self.soft:,}) is larger than outputs.hard ({self.hard:,}).",
                hint="A cut output must be smaller than one that is left alone.",
            )

    def is_exceeded(self, text: str, tokens: int) -> bool:
        """Return True if an output of so many tokens is cut when it is recorded."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return tokens > self.hard or text.count("\n") >= self.lines or size > self.bytes
