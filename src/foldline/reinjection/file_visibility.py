"""Which files the model still sees, and which a compaction took out of its sight."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.outcome import Evicted
from foldline.reinjection.attachment import attached
from foldline.reinjection.file_access import FileAccess, in_sight, stands_in
from foldline.values.view import View


def sight(view: View, found: Sequence[FileAccess]) -> set[str]:
    """Return the paths of the files whose newest content a view shows, put back or not."""
    shown = {message.id: message for message in view.messages}
    back = {
        path
        for message in view.messages
        if message.is_attachment()
        for path, it in attached(message.text).items()
        if it.whole
    }
    return in_sight(found, shown, view.originals) | back


def evicted(before: View, after: View, found: Sequence[FileAccess]) -> Evicted:
    """
    Name the files that a compaction took out of sight.

    Args:
        before: The view that was compacted.
        after: The view that it gave.
        found: Every touch of a file, in order.
    """
    if not found:
        return Evicted()
    gone = sight(before, found) - sight(after, found)
    last = dict.fromkeys(touch.path for touch in reversed(found) if touch.path in gone)
    here = {message.id: message for message in before.messages}
    there = {message.id: message for message in after.messages}
    log = before.originals
    unknown = sum(
        not touch.path and stands_in(touch, here, log) and not stands_in(touch, there, log)
        for touch in found
    )
    return Evicted(tuple(last), unknown)
