"""
Reinject: put back into sight what a compaction took out of it and the model still works with.

That is the newest plan, and the newest versions of the files that were touched last. They come as
one message before the newest part of the conversation, in the same batch of edits; the next
compaction takes it out again before it does anything else, so that these messages never pile up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    evicted,
    name_section,
    part_section,
    read_attached,
    render,
    sight,
    standing,
    whole_section,
)
from foldline.reinjection.file_access import FileAccess, newest
from foldline.reinjection.working_set import TaskLists, WorkingSet, plan_room, plan_sections
from foldline.repair.repair import repair
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
"""What receipts call the first rung, which takes out what was put back earlier."""

SMALL: Final = 0.005
"""A plan of up to this fraction of the target finds its place without a reserve."""

SECTION_TOKENS: Final = 60
"""About what stands around the content of a file, in tokens."""

JOINTS: Final = 4
"""Texts that are put together may take a few tokens more than each by itself."""

ReadFiles: TypeAlias = Callable[[Sequence[FileAccess], FileSettings], tuple[FoundFile, ...]]


@frozen
class ReinjectionItems:
    """
    What is to be in sight when a compaction is over.

    ``touches`` are all touches of files, in order; ``files`` the newest touched ones as they are
    on disk now, newest first, none where no file may be read.
    """

    touches: tuple[FileAccess, ...] = ()
    files: tuple[FoundFile, ...] = ()
    plan: TaskLists | None = None
    settings: FileSettings = field(default_factory=FileSettings)


# --- before a compaction -------------------------------------------------------------------


@frozen
class Sources:
    """
    Where what is to be in view comes from.

    ``settings`` says which files are put back. ``read`` reads touched files, newest first; None
    where no file may be read. ``working`` is the working set of the log, where it is kept up to
    date; None to read it off the view.
    """

    settings: FileSettings = field(default_factory=FileSettings)
    read: ReadFiles | None = None
    working: WorkingSet | None = None

    def find(self, view: View) -> ReinjectionItems:
        """Find what is to be in view when a compaction of this view is over."""
        settings, known = self.settings, self.working
        if known is None:
            known = WorkingSet.of(view.originals.values(), settings)
        files: tuple[FoundFile, ...] = ()
        if self.read is not None and settings.is_on:
            files = self.read(newest(known.touches), settings)
        return ReinjectionItems(known.touches, files, known.plan, settings)


def make_room(
    items: ReinjectionItems, view: View, budget: Budget, context: CompactionContext, policy: Policy
) -> tuple[Budget, CompactionContext]:
    """Return budget and context that leave room for what is put back afterwards."""
    # Imported here: nothing above loads what folds, until something is due.
    from foldline.summary.span import is_partial

    spare = reserve(items, view, budget.target)
    if is_partial(policy):
        # What stays beside a span is not shortened for it: it comes on top.
        budget = replace(budget, target=min(budget.limit, budget.target + spare))
    else:
        context = replace(context, target=max(1, context.target - spare))
    return budget, context


@frozen
class Detach:
    """Take out what an earlier compaction put back."""

    name: ClassVar[str] = DETACH

    def propose(self, view: View, _: CompactionContext) -> Steps[Plan]:
        """Leave out every attachment that is not pinned."""
        yield from ()
        attachment_ids = tuple(
            message.id
            for index, message in enumerate(view.messages)
            if message.is_attachment() and index not in view.protected
        )
        if not attachment_ids:
            return Plan(reason="nothing was put back earlier")
        return Plan((Drop(attachment_ids, KIND),))


def detach_first(policy: Policy, messages: Iterable[Message]) -> Policy:
    """Return the policy that first takes out what was put back earlier, where there is such."""
    user_messages = (message for message in messages if message.role == "user")
    if not any(message.is_attachment() for message in user_messages):
        return policy
    return replace(policy, rungs=(Rung(Detach(), policy.trigger), *policy.rungs))


def reserve(items: ReinjectionItems, view: View, target: int) -> int:
    """
    Return how much of the target to leave for what is put back, in tokens.

    Never more than half of what the messages leave that have to stay: they are not cut for it.

    Args:
        items: What there is to put back.
        view: The view that is compacted.
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
    fixed = sum(view.counts[index] for index in view.protected)
    return max(0, min(room, (target - fixed) // 2))


def _most(settings: FileSettings, target: int) -> int:
    return min(settings.total_tokens, round(settings.share * target))


# --- after it ------------------------------------------------------------------------------


def put_back(
    before: View,
    outcome: Outcome,
    budget: Budget,
    context: CompactionContext,
    items: ReinjectionItems,
) -> Outcome:
    """
    Add what is out of view now to the outcome of a compaction, as far as there is room.

    Args:
        before: The view that was compacted.
        outcome: What became of it: it was compacted.
        budget: What the messages may take; the limit is never passed.
        context: The target that the compaction had.
        items: What is to be in view.

    Returns:
        The outcome, perhaps with one more message; unchanged where nothing but what an earlier
        compaction put back could be taken out.
    """
    short = outcome.view.tokens > context.target and before.tokens <= budget.limit
    if short and _is_only_detached(outcome):
        why = "nothing but what an earlier compaction put back could be taken out"
        return Outcome("unchanged", why, before, rungs=outcome.rungs, spent=outcome.spent)
    outcome = _attach(before, outcome, budget, items)
    return replace(outcome, evicted=evicted(before, outcome.view, items.touches))


def _is_only_detached(outcome: Outcome) -> bool:
    """Return True if nothing was done that would be worth a new prefix."""
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
    """Return what was put back earlier of those files that were not touched since."""
    back: dict[str, Attached] = {}
    for at, message in enumerate(before.messages if files else ()):
        if message.is_attachment():
            attached = read_attached(message.text)
            for found in files:
                path, called = found.touch.path, before.positions.get(found.touch.ids[0], -1)
                if path in attached and called < at:
                    back[path] = attached[path]
    return back


def _file_sections(
    after: View, items: ReinjectionItems, room: int, earlier: dict[str, Attached]
) -> list[str]:
    settings, counter = items.settings, after.counter
    here = sight(after, items.touches)
    sections: list[str] = []
    file_count = 0
    for found in items.files:
        if found.touch.path in here or file_count >= settings.count:
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
    """Write a file whole, or else its first and last lines, or else its path."""
    file_standing = standing(found, earlier)
    if found.state == "text" and counter.text(found.text) <= tokens:
        return whole_section(found, file_standing)
    part = part_section(found, file_standing, tokens, counter) if found.state == "text" else ""
    return part or name_section(found, file_standing)


def insertion_point(before: View, after: View) -> str | None:
    """
    Return the message behind which the attachment goes; None where there is no place for it.

    It stands right behind the snapshot, and else before the newest part of the conversation: the
    latest words of the user, or what the model has not read yet. It never parts a call from its
    results, nor stands before the first edit, whose prefix the provider still holds.
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
