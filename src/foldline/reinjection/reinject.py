"""
Reinject: bring back into view what a compaction removed and the model still works with.

That is the newest plan, and the newest versions of the files that were accessed last. They come as
one message before the newest part of the conversation, in the same batch of edits; the next
compaction removes it before it does anything else, so that these messages never accumulate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Final, TypeAlias

from foldline.core.asks import Steps
from foldline.core.budget import Budget
from foldline.core.retention_settings import FileSettings
from foldline.core.strategy import CompactionContext, Outcome, Plan, Policy, Rung, RungReport
from foldline.frozen import field, frozen, replace
from foldline.reinjection.attachment import (
    HEADER,
    Attached,
    FoundFile,
    compare_with_view,
    find_evicted,
    name_section,
    part_section,
    read_attached,
    render,
    visible_paths,
    whole_section,
)
from foldline.reinjection.file_access import FileAccess, newest
from foldline.reinjection.working_set import TaskLists, WorkingSet, plan_room, plan_sections
from foldline.repair.repair import repair
from foldline.snapshot.invocations import Invocation
from foldline.values.edits import Drop, Insert
from foldline.values.frames import has_words
from foldline.values.identity import content_hash, derived_id
from foldline.values.messages import Message, Text
from foldline.values.protect import is_snapshot
from foldline.values.snapshot_mark import seal_text
from foldline.values.tokens import MESSAGE_TOKENS, TokenCounter
from foldline.values.view import View

KIND: Final = "reinject"
"""The kind of the edits, and the origin of the message."""

DETACH: Final = "detach"
"""The name in receipts of the first rung, which removes earlier attachments."""

SMALL: Final = 0.005
"""A plan of up to this fraction of the target needs no reserve."""

SECTION_TOKENS: Final = 60
"""Approximate size of the lines around the content of a file, in tokens."""

JOINTS: Final = 4
"""Tokens that joined texts may take beyond the sum of their own."""

ReadFiles: TypeAlias = Callable[[Sequence[FileAccess], FileSettings], tuple[FoundFile, ...]]


@frozen
class ReinjectionItems:
    """
    The plan and the files that must be in view after a compaction.

    ``accesses`` are all file accesses, in order; ``files`` the last accessed ones as they are
    on disk now, newest first, none where no file may be read.
    """

    accesses: tuple[FileAccess, ...] = ()
    files: tuple[FoundFile, ...] = ()
    plan: TaskLists | None = None
    settings: FileSettings = field(default_factory=FileSettings)


# --- before a compaction -------------------------------------------------------------------


@frozen
class Sources:
    """
    Sources of the items to reinject.

    ``settings`` selects the files. ``read`` reads accessed files, newest first; None
    where no file may be read. ``working`` is the working set of the log, where it is kept up to
    date; None to derive it from the view.
    """

    settings: FileSettings = field(default_factory=FileSettings)
    read: ReadFiles | None = None
    working: WorkingSet | None = None

    def find(self, view: View) -> ReinjectionItems:
        """Find the items that must be in view after a compaction of this view."""
        settings, known = self.settings, self.working
        if known is None:
            known = WorkingSet.of(view.originals.values(), settings, view.once(Invocation))
        files: tuple[FoundFile, ...] = ()
        if self.read is not None and settings.is_on:
            files = self.read(newest(known.accesses), settings)
        return ReinjectionItems(known.accesses, files, known.plan, settings)


def make_room(
    items: ReinjectionItems, view: View, budget: Budget, context: CompactionContext, policy: Policy
) -> tuple[Budget, CompactionContext]:
    """Return budget and context that leave room for the attachment."""
    # Imported here: summarizing is loaded only when a compaction is due.
    from foldline.summary.span import is_partial

    spare = reserve(items, view, budget.target)
    if is_partial(policy):
        # Messages outside a span are not shortened for the attachment: it comes on top.
        budget = replace(budget, target=min(budget.limit, budget.target + spare))
    else:
        context = replace(context, target=max(1, context.target - spare))
    return budget, context


@frozen
class Detach:
    """Remove the attachments of earlier compactions."""

    name: ClassVar[str] = DETACH

    def propose(self, view: View, _: CompactionContext) -> Steps[Plan]:
        """Drop every attachment that is not protected."""
        yield from ()
        attachment_ids = tuple(
            message.id
            for index, message in enumerate(view.messages)
            if message.is_attachment() and index not in view.protected
        )
        if not attachment_ids:
            return Plan(reason="nothing was put back earlier")
        return Plan((Drop(attachment_ids, KIND),))


def detach_first(policy: Policy) -> Policy:
    """Return the policy with a first rung that removes earlier attachments."""
    return replace(policy, rungs=(Rung(Detach(), policy.trigger), *policy.rungs))


def reserve(items: ReinjectionItems, view: View, target: int) -> int:
    """
    Return how much of the target to reserve for the attachment, in tokens.

    It is at most half of the room beside the messages that must stay: they are not cut for it.

    Args:
        items: The items to reinject.
        view: The view to compact.
        target: The target of the compaction, in tokens.
    """
    settings, counter, plan = items.settings, view.counter, 0
    if items.plan is not None:
        lines = plan_room(items.plan, target, counter)
        plan = lines if lines > SMALL * target else 0
    files = sum(
        min(counter.text(found.text), settings.file_tokens) + SECTION_TOKENS
        for found in items.files[: settings.count]
    )
    room = plan + min(files, _most(settings, target))
    if not room:
        return 0
    room += MESSAGE_TOKENS + counter.text(seal_text(HEADER))
    fixed = sum(view.counts[index] for index in view.protected)
    return max(0, min(room, (target - fixed) // 2))


def _most(settings: FileSettings, target: int) -> int:
    return min(settings.total_tokens, round(settings.share * target))


# --- after a compaction --------------------------------------------------------------------


def put_back(
    before: View,
    outcome: Outcome,
    budget: Budget,
    context: CompactionContext,
    items: ReinjectionItems,
) -> Outcome:
    """
    Add the items that are no longer in view to the outcome of a compaction, if there is room.

    Args:
        before: The view before the compaction.
        outcome: The outcome, with status "compacted".
        budget: The budget of the messages; its limit is never exceeded.
        context: The target of the compaction.
        items: The items that must be in view.

    Returns:
        The outcome, perhaps with one more message; "unchanged" where only attachments of earlier
        compactions could be removed.
    """
    short = outcome.view.tokens > context.target and before.tokens <= budget.limit
    if short and _is_only_detached(outcome):
        why = "only what an earlier compaction put back could be removed"
        return Outcome("unchanged", why, before, rungs=outcome.rungs, spent=outcome.spent)
    outcome = _attach(before, outcome, budget, items)
    return replace(outcome, evicted=find_evicted(before, outcome.view, items.accesses))


def _is_only_detached(outcome: Outcome) -> bool:
    """Return True if no rung did anything that is worth a new prefix."""
    applied = {report.name for report in outcome.rungs if report.is_in_effect}
    return DETACH in applied and applied <= {DETACH, "repair"}


def _attach(before: View, outcome: Outcome, budget: Budget, items: ReinjectionItems) -> Outcome:
    after = outcome.view
    if items.plan is None and not items.files:
        return outcome
    where = insertion_point(before, after)
    taken = after.tokens + MESSAGE_TOKENS + after.counter.text(seal_text(HEADER))
    room = min(before.tokens - 1, budget.limit) - taken - JOINTS
    if where is None or room <= 0:
        return outcome
    plan, sections = items.plan, list[str]()
    if plan is not None:
        most = plan_room(plan, budget.target, after.counter)
        sections = plan_sections(after, plan, min(room, most))
    room = min(room, budget.target - taken) - sum(map(after.counter.text, sections))
    room = min(room, _most(items.settings, budget.target))
    sections += _file_sections(after, items, room, _find_last_attached(before, items.files))
    while sections:
        extended = _with(after, outcome, where, sections)
        if extended.view.tokens <= budget.limit and extended.view.tokens < before.tokens:
            fits = not repair(extended.view.messages, extended.view.dialect)
            return extended if fits else outcome
        sections.pop()
    return outcome


def _with(after: View, outcome: Outcome, where: str, sections: Sequence[str]) -> Outcome:
    message = Message("user", (Text(render(sections)),), origin=KIND)
    message = replace(message, id=derived_id(KIND, where, content_hash(message)))
    insert = Insert(where, message, KIND)
    view = after.after((insert,))
    report = RungReport(KIND, "applied", after.tokens - view.tokens, _summary(sections))
    return replace(
        outcome, view=view, edits=(*outcome.edits, insert), rungs=(*outcome.rungs, report)
    )


def _summary(sections: Sequence[str]) -> str:
    files = sum(section.startswith("File ") for section in sections)
    names = [f"{files} files"] if files else []
    return " and ".join([*(["the plan"] if files < len(sections) else []), *names])


def _find_last_attached(before: View, files: Sequence[FoundFile]) -> dict[str, Attached]:
    """Return the earlier attachments of the files that no call accessed since, by path."""
    back: dict[str, Attached] = {}
    for at, message in enumerate(before.messages if files else ()):
        if message.is_attachment():
            attached = read_attached(message.text)
            for found in files:
                path, called = found.access.path, before.positions.get(found.access.ids[0], -1)
                if path in attached and called < at:
                    back[path] = attached[path]
    return back


def _file_sections(
    after: View, items: ReinjectionItems, room: int, earlier: dict[str, Attached]
) -> list[str]:
    settings, counter = items.settings, after.counter
    here = visible_paths(after, items.accesses)
    sections: list[str] = []
    file_count = 0
    for found in items.files:
        if found.access.path in here or file_count >= settings.count:
            continue
        section = _section(
            found, earlier, min(settings.file_tokens, room - SECTION_TOKENS), counter
        )
        tokens = counter.text(section)
        if tokens > room:
            continue
        sections.append(section)
        room -= tokens
        file_count += "\n" in section
    return sections


def _section(
    found: FoundFile, earlier: dict[str, Attached], tokens: int, counter: TokenCounter
) -> str:
    """Write a file: whole, or its first and last lines, or only its path, as there is room."""
    freshness = compare_with_view(found, earlier)
    if found.state == "text" and counter.text(found.text) <= tokens:
        return whole_section(found, freshness)
    part = part_section(found, freshness, tokens, counter) if found.state == "text" else ""
    return part or name_section(found, freshness)


def insertion_point(before: View, after: View) -> str | None:
    """
    Return the id of the message after which to insert the attachment; None if there is no place.

    It goes right after the snapshot, or else before the newest part of the conversation: the
    latest message of the user, or the unread results. It never separates a call from its
    results, nor precedes the first edit, whose prefix the provider still caches.
    """
    messages = after.messages
    taken = {at for group in after.groups for at in range(group.start + 1, group.end)}
    running = [group.start for group in after.groups if group.state == "pending"]
    first = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    end = min([len(messages), *running])
    preferred = _find_insertion_point(after, before.kept_prefix(after))
    below, above = range(min(preferred, end), first, -1), range(max(preferred, first + 1), end + 1)
    found = next((at for at in (*below, *above) if at not in taken), None)
    return None if found is None else messages[found - 1].id


def _find_insertion_point(after: View, changed: int) -> int:
    snapshots = [i for i, message in enumerate(after.messages) if is_snapshot(message)]
    if snapshots:
        return snapshots[-1] + 1
    user_positions = [i for i, message in enumerate(after.messages) if has_words(message)]
    if user_positions and user_positions[-1] > changed:
        return user_positions[-1]
    unread = [
        group.start for group in after.groups if after.protected.get(group.start) == "unread"
    ]
    last = after.groups[-1].start if after.groups else 0
    return min([*unread, last])
