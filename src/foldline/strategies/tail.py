"""The verbatim tail: the newest groups, which a summary does not fold."""

from __future__ import annotations

from typing import Literal, Protocol

from foldline.core.strategy import CompactionContext
from foldline.errors import BudgetError
from foldline.frozen import frozen
from foldline.values.frames import has_words
from foldline.values.groups import Group
from foldline.values.protect import is_snapshot
from foldline.values.view import View

TAIL = 0.10
"""Fraction of the target that stays verbatim at the end, unless a policy says otherwise."""

PRESERVED = 0.6
"""Fraction of the target that a tail given as a share of a large history may always take."""


class TailSelection(Protocol):
    """The choice of the groups of a view that may be folded."""

    def older(self, view: View, context: CompactionContext) -> list[Group]:
        """Return the groups that may be folded, oldest first."""
        ...


@frozen
class Keep:
    """
    How much of the newest history stays verbatim.

    ``unit`` is the unit of ``amount``: "target", a fraction of the target; "share", a fraction of
    the history's tokens; "groups", a number of groups; "rounds", a number of messages with words
    of the user, each with all that follows it.

    Raises:
        BudgetError: The amount is not a number of that unit.
    """

    unit: Literal["target", "share", "groups", "rounds"]
    amount: float

    def __post_init__(self) -> None:
        if self.unit in ("groups", "rounds"):
            if not isinstance(self.amount, int) or self.amount < 0:
                raise BudgetError(
                    f"The {self.unit} to keep must be a whole number, not {self.amount!r}.",
                    hint="Give 0 or more.",
                )
        elif not isinstance(self.amount, (int, float)) or not 0 <= self.amount <= 1:
            raise BudgetError(
                f"The {self.unit} to keep must be a fraction, not {self.amount!r}.",
                hint="Give a number from 0 to 1.",
            )

    def older(self, view: View, context: CompactionContext) -> list[Group]:
        """Return the groups that may be folded, oldest first, earlier snapshots included."""
        groups = view.foldable()
        cut = self._cut(view, context, groups)
        return [
            group
            for position, group in enumerate(groups)
            if position < cut or is_snapshot(view.messages[group.start])
        ]

    def _cut(self, view: View, context: CompactionContext, groups: list[Group]) -> int:
        if self.unit == "groups":
            return max(0, len(groups) - int(self.amount))
        if self.unit == "rounds":
            return self._round_cut(view, groups)
        if self.unit == "target":
            room = context.target * self.amount
        else:
            # A history larger than the window keeps no more than there is room for.
            most = max(self.amount * context.limit, PRESERVED * context.target)
            room = min(self.amount * view.tokens, most)
        cut = len(groups)
        while cut and room > 0:
            room -= sum(view.counts[index] for index in groups[cut - 1].members)
            if room < 0:
                break
            cut -= 1
        return cut

    def _round_cut(self, view: View, groups: list[Group]) -> int:
        user_positions = [
            index for index, message in enumerate(view.messages) if has_words(message)
        ]
        rounds = int(self.amount)
        if rounds <= 0:
            return len(groups)
        start = user_positions[-rounds] if len(user_positions) >= rounds else 0
        return sum(1 for group in groups if group.start < start)
