"""Content that a compaction must not remove: the promises TASK and UNREAD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from foldline.api import Compaction
from foldline.recall.sections import part_text
from foldline.values.edits import Fold, Rewrite, following
from foldline.values.frames import has_words
from foldline.values.messages import Message, Part, Text, ToolCall, ToolResult


def check_task(result: Compaction[Any]) -> None:
    """TASK: system prompt, pins, first and latest user message are verbatim, at worst cut."""
    messages = result.transcript.messages
    required = [m for m in messages if m.pinned and m.id not in repaired_ids(result)]
    for message in messages:
        if message.role != "system":
            break
        required.append(message)
    user_messages = [m for m in messages if has_words(m)]
    required += [user_messages[0], user_messages[-1]] if user_messages else []
    for message in required:
        _check_there("TASK", result, message, Text)


def check_unread(result: Compaction[Any]) -> None:
    """
    UNREAD: results that the model has not answered stay in view, at worst cut.

    If a call has several results, only the last one must stay.
    """
    messages = result.transcript.messages
    answered = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
    latest = {part.call_id: at for at, m in enumerate(messages) for part in m.results}
    for at, message in enumerate(messages[answered + 1 :], answered + 1):
        if any(latest[part.call_id] == at for part in message.results):
            _check_there("UNREAD", result, message, ToolResult)


def _check_there(
    promise: str, result: Compaction[Any], message: Message, kind: type[Text | ToolResult]
) -> None:
    """Check that parts of a message are in view, or cut by an edit that names its handle."""
    if result.receipt.status != "compacted":
        return
    visible_ids = {after.id for after in result.shown.messages}
    everything = [text for after in result.shown.messages for text in _texts(after.parts)]
    cut = {
        (edit.message, edit.part): edit
        for edit in result.receipt.edits
        if isinstance(edit, Rewrite) and edit.kind == "truncate"
    }
    for edit in cut.values():
        assert edit.text is not None, f"{promise}: message {edit.message[:8]} was left out."
        whole = edit.text in _original_texts(result, edit)
        assert edit.handle in edit.text or whole or edit.message not in visible_ids, (
            f"{promise}: message {edit.message[:8]} was cut, but does not name its handle."
        )
    others = {now.id for now in visible_messages(result, message)} - {message.id}
    instead = not others.isdisjoint(number for number, _ in cut)
    for index, part in enumerate(message.parts):
        is_cut = instead or (message.id in visible_ids and (message.id, index) in cut)
        for text in _texts([part]) if isinstance(part, kind) and not is_cut else ():
            assert any(text in other for other in everything), (
                f"{promise}: message {message.id[:8]} ({message.role}) is no longer in view; its "
                f"text was {text[:60]!r}."
            )


def _original_texts(result: Compaction[Any], edit: Rewrite) -> list[str]:
    """Return the texts of a part before it was cut: the cut may have had nothing to omit."""
    owners = (message for message in result.transcript.messages if message.id == edit.message)
    parts = [message.parts[edit.part] for message in islice(owners, 1)]
    return [part.arguments if isinstance(part, ToolCall) else part_text(part) for part in parts]


def visible_messages(result: Compaction[Any], message: Message, since: int = 0) -> list[Message]:
    """
    Return the messages in view for a message: itself, and those made from it by repairs.

    Args:
        result: The compaction.
        message: A message as it was after the first ``since`` edits.
        since: Number of earlier edits.
    """
    ids = following(frozenset({message.id}), result.receipt.edits[since:])
    return [after for after in result.shown.messages if after.id in ids]


def _texts(parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        if (isinstance(part, Text) and part.text.strip()) or isinstance(part, ToolResult):
            yield part.text


def repaired_ids(result: Compaction[Any]) -> set[str]:
    """Return the ids of messages that were changed by a repair."""
    edits = [edit for edit in result.receipt.edits if edit.kind == "repair"]
    folded = {number for edit in edits if isinstance(edit, Fold) for number in edit.messages}
    return folded | {edit.message for edit in edits if isinstance(edit, Rewrite)}
