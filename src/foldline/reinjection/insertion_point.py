"""Where a message goes that a compaction puts back into a conversation."""

from __future__ import annotations

from foldline.values.frames import has_words
from foldline.values.protect import is_snapshot
from foldline.values.view import View


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
    changed = next(
        (
            index
            for index, (old, new) in enumerate(zip(before.messages, messages, strict=False))
            if old is not new
        ),
        min(len(before.messages), len(messages)),
    )
    end = min([len(messages), *running])
    wanted = _wanted(after, changed)
    below, above = range(min(wanted, end), first, -1), range(max(wanted, first + 1), end + 1)
    found = next((at for at in (*below, *above) if at not in taken), None)
    return None if found is None else messages[found - 1].id


def _wanted(after: View, changed: int) -> int:
    snapshots = [i for i, message in enumerate(after.messages) if is_snapshot(message)]
    if snapshots:
        return snapshots[-1] + 1
    spoken = [i for i, message in enumerate(after.messages) if has_words(message)]
    if spoken and spoken[-1] > changed:
        return spoken[-1]
    unread = [
        group.start for group in after.groups if after.protected.get(group.start) == "unread"
    ]
    last = after.groups[-1].start if after.groups else 0
    return min([*unread, last])
