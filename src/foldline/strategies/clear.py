"""
Clear: tool-result clearing, also called micro-compaction.

Old tool results become stubs with a handle, oldest first, in one batch. The last failure of a
call stays until the same call succeeds, and so do skills. While the provider's
prompt cache is warm this only happens when it pays: removing C tokens makes the next request
write the T tokens behind the first of them again, which costs 1.15 times the input price more than
a cache read, and saves a tenth of the price of C on every later one. It pays back after 11.5·T/C
requests (cache write 1.25, cache read 0.1 of the input price).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from foldline.core.asks import Steps
from foldline.core.economy import PAY_BACK
from foldline.core.strategy import CompactionContext, Plan
from foldline.errors import BudgetError
from foldline.frozen import frozen
from foldline.snapshot.calls import user_reply
from foldline.snapshot.facts import open_failures
from foldline.snapshot.invocations import Invocation, Invocations
from foldline.strategies.stubs import clear
from foldline.values.edits import Edit, Rewrite
from foldline.values.groups import Site
from foldline.values.messages import ToolCall, ToolResult
from foldline.values.view import View

SKILL_FILE: Final = "SKILL.md"
"""Name of the file that defines a skill."""


@frozen
class Clear:
    """
    Replace old tool results with stubs.

    Args:
        keep: How many of the newest groups keep their results.
        only: Names of tools whose results may be cleared, in any case, as agents spell them Read
            or read; None for all but those that load skills.
        never: Names of tools whose results are never cleared.

    Raises:
        BudgetError: ``keep`` is not a whole number of 0 or more.
    """

    keep: int = 4
    only: Collection[str] | None = None
    never: Collection[str] = ()
    name: ClassVar[str] = "clear"

    def __post_init__(self) -> None:
        if not isinstance(self.keep, int) or self.keep < 0:
            raise BudgetError(
                f"The number of groups to keep must be a whole number, not {self.keep!r}.",
                hint="Give 0 or more.",
            )

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Clear results, oldest first, until the target is met."""
        yield from ()
        edits: list[Edit] = []
        freed, first = 0, -1
        for index, part in self._clearable(view):
            if view.tokens - freed <= context.target:
                break
            edit = clear(view, context, index, part, "clear", "an old result")
            if edit:
                edits.append(edit)
                freed += _saving(view, index, edit)
                first = index if first < 0 else min(first, index)
        if not edits:
            return Plan(reason="no old result to clear")
        rewritten = sum(view.counts[first:])
        if not context.cold and PAY_BACK * rewritten > context.requests * freed:
            due = PAY_BACK * rewritten / freed
            return Plan(
                reason=f"the cache is warm and clearing would pay back after {due:.0f} requests"
            )
        return Plan(tuple(edits))

    def _clearable(self, view: View) -> list[tuple[int, int]]:
        names, never = view.tool_names, _casefold(self.never)
        calls = Invocations(view.messages, view.pairing, view.once(Invocation))
        stays = open_failures(calls) | _replies(view)
        if self.only is None:
            stays |= _skills(view)
        only = None if self.only is None else _casefold(self.only)
        with_results = [
            group
            for group in view.groups
            if any(view.messages[index].has_results for index in group.members)
        ]
        old = with_results[: len(with_results) - self.keep] if self.keep else with_results
        return [
            (index, position)
            for group in old
            for index in group.members
            if index not in view.protected
            for position, part in enumerate(view.messages[index].parts)
            if isinstance(part, ToolResult)
            and Site(index, position) not in stays
            and (name := _tool(part, names)) not in never
            and (only is None or name in only)
        ]


def _tool(result: ToolResult, names: Mapping[str, str]) -> str:
    return (result.name or names.get(result.call_id or "", "")).casefold()


def _skills(view: View) -> frozenset[Site]:
    """Return the sites of results that load a skill: its instructions stay valid."""
    return frozenset(
        result
        for call_site, result in view.pairing.answers.items()
        if isinstance(call := view.messages[call_site.message].parts[call_site.part], ToolCall)
        and ("skill" in call.name.casefold() or SKILL_FILE in call.arguments)
    )


def _replies(view: View) -> frozenset[Site]:
    """Return the sites of results that hold the user's reply to a call."""
    return frozenset(
        site
        for call_site, site in view.pairing.answers.items()
        if isinstance(call := view.messages[call_site.message].parts[call_site.part], ToolCall)
        and isinstance(result := view.messages[site.message].parts[site.part], ToolResult)
        and user_reply(call.name, result)
    )


def _casefold(names: Collection[str]) -> set[str]:
    return {name.casefold() for name in names}


def _saving(view: View, index: int, edit: Rewrite) -> int:
    part = view.messages[index].parts[edit.part]
    return view.counter.part(part) - view.counter.text(edit.text or "")
