"""The verbatim tail: which of the newest groups a summary leaves as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from foldline.core.groups import Group
from foldline.core.protect import is_snapshot
from foldline.core.strategy import Need
from foldline.core.view import View


@dataclass(frozen=True, slots=True)
class Keep:
    """
    How much of the newest history stays verbatim.

    ``unit`` says what ``amount`` means: "target", a fraction of the target; "share", a fraction of
    the history's tokens; "groups", a number of groups; "rounds", a number of user messages with
    all that follows them.
    """

    unit: Literal["target", "share", "groups", "rounds"]
    amount: float

    def older(self, view: View, need: Need) -> list[Group]:
        """Return the groups that may be folded, oldest first; an earlier snapshot is one."""
        groups = view.foldable()
        cut = self._cut(view, need, groups)
        return [
            group
            for position, group in enumerate(groups)
            if position < cut or is_snapshot(view.messages[group.start])
        ]

    def _cut(self, view: View, need: Need, groups: list[Group]) -> int:
        if self.unit == "groups":
            return max(0, len(groups) - int(self.amount))
        if self.unit == "rounds":
            return self._round_cut(view, groups)
        whole = need.target if self.unit == "target" else view.tokens
        room = whole * self.amount
        cut = len(groups)
        while cut and room > 0:
            room -= sum(view.counts[index] for index in groups[cut - 1].members)
            if room < 0:
                break
            cut -= 1
        return cut

    def _round_cut(self, view: View, groups: list[Group]) -> int:
        spoken = [
            index
            for index, message in enumerate(view.messages)
            if message.is_spoken() and not is_snapshot(message)
        ]
        rounds = int(self.amount)
        if rounds <= 0:
            return len(groups)
        start = spoken[-rounds] if len(spoken) >= rounds else 0
        return sum(1 for group in groups if group.start < start)
