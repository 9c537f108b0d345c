"""Which confinement there is: the strongest one whose self-test fails to escape."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from foldline.core.validation import named
from foldline.errors import FoldlineError

if TYPE_CHECKING:
    from foldline.tools.terminal.confine.order import Confinement

Mode: TypeAlias = Literal["auto", "bubblewrap", "landlock", "none"]

MODES: Final[tuple[Mode, ...]] = ("auto", "bubblewrap", "landlock", "none")

INSTALL: Final = (
    "Install bubblewrap: apt-get install bubblewrap (dnf, apk and pacman have it, too)."
)

MISSING: Final = {
    "bubblewrap": "it is not installed",
    "landlock": "it needs version 3 or newer in the kernel, and a filter for this processor",
}
"""What a trial says about a mode that is not there."""


class NotConfined(FoldlineError):
    """The kernel confines nothing here, so no terminal is opened."""


@dataclass(frozen=True, slots=True)
class ConfinementTrial:
    """A mode, whether it can be used, and what its self-test said."""

    mode: Mode
    confinement: Confinement | None
    words: str


def choose_confinement(mode: Mode = "auto", *, allow_unconfined: bool = False) -> Confinement:
    """
    Return a confinement that holds.

    Args:
        mode: Which; "auto" takes bubblewrap, else Landlock.
        allow_unconfined: Has to be said besides "none": the kernel then confines nothing.

    Raises:
        NotConfined: It does not exist here, or its self-test escaped.
        BudgetError: There is no such mode.
    """
    named("sandbox", mode, MODES)
    if mode == "none":
        if not allow_unconfined:
            raise NotConfined(
                "A terminal that the kernel does not confine is not opened by accident.",
                hint="Say allow_unconfined=True besides, if that is what you want.",
            )
        _check_system()
        from foldline.tools.terminal.confine.landlock import Unconfined

        return Unconfined()
    wanted: tuple[Mode, ...] = ("bubblewrap", "landlock") if mode == "auto" else (mode,)
    wrong = []
    for one in wanted:
        result = try_confinement(one)
        if result.confinement is not None:
            return result.confinement
        wrong.append(f"{one}: {result.words}")
    raise NotConfined(f"The kernel can confine nothing here ({'; '.join(wrong)}).", hint=INSTALL)


_HELD: dict[Mode, ConfinementTrial] = {}
"""Modes whose self-test held in this program: it is not made again."""


def try_confinement(mode: Mode) -> ConfinementTrial:
    """
    Look for a mode and try to escape from it; once in the life of a program when it holds.

    Args:
        mode: "bubblewrap" or "landlock".
    """
    try:
        _check_system()
    except NotConfined as error:
        return ConfinementTrial(mode, None, error.message)
    if mode in _HELD:
        return _HELD[mode]
    from foldline.tools.terminal.confine.bubblewrap import Bubblewrap
    from foldline.tools.terminal.confine.landlock import Landlock
    from foldline.tools.terminal.confine.selftest import escapes

    found = Bubblewrap.detect() if mode == "bubblewrap" else Landlock.detect()
    if found is None:
        return ConfinementTrial(mode, None, MISSING[mode])
    wrong = escapes(found)
    if wrong:
        return ConfinementTrial(mode, None, "; ".join(wrong))
    return _HELD.setdefault(mode, ConfinementTrial(mode, found, found.loses))


def _check_system() -> None:
    if not sys.platform.startswith("linux"):
        raise NotConfined(f"It needs Linux, and this is {sys.platform}.")
