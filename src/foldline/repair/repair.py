"""
Repair: the edits that make a damaged history acceptable to its provider.

Processes die between a call and its result, logs lose lines, results arrive late. The provider
would reject such a conversation after a compaction, too; so the damage is repaired first, by
edits like any other: recorded, reversible, named in the receipt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count, groupby, pairwise
from operator import eq

from foldline.frozen import replace
from foldline.repair.untangle import (
    DamagedHistory,
    part_at,
    renumber,
    reorder,
    untangle_messages,
)
from foldline.values.edits import Drop, Edit, Fold, Insert, LinkedKeys, Move, Rewrite, apply
from foldline.values.groups import Pairing, Site, pending_calls
from foldline.values.identity import derived_id
from foldline.values.messages import (
    Media,
    Message,
    Omitted,
    Part,
    Role,
    Text,
    Thinking,
    ToolResult,
)
from foldline.values.provider_rules import ANY_ORDER, BY_TURN, ONE_ANSWER

NO_RESULT = "[No result of this call was recorded.]"
ORPHAN = "[Result of a tool call that is not part of this history]"
LATER = "[Another result of a tool call that was answered before]"
GAP = "[Messages that stood here are left out.]"
START = "[The recorded history starts here, with work that was already under way.]"


def repair(
    messages: Sequence[Message], dialect: str, pairing: Pairing | None = None
) -> tuple[Edit, ...]:
    """
    Propose the edits that make a conversation valid.

    Empty messages are removed; a result before its call moves behind it; of several results of a
    call, the last one before the model went on is its answer, and earlier ones are removed; a
    result without a call, or one that arrived after the model went on with another, becomes a
    note with the same text; a call that will never be answered gets a result that says so; ids
    that must be unique become unique; a result that is not behind its call moves there, and
    nothing else moves; messages that may not be adjacent are separated; a conversation that
    starts with the model gets a first user message.

    Args:
        messages: Messages with ids.
        dialect: The dialect whose rules apply.
        pairing: The result of `pair` for the messages, where that is known.

    Returns:
        The edits; none for a valid conversation.
    """
    edits: list[Edit] = []
    history = DamagedHistory(messages, dialect, pairing)
    for step in STEPS:
        found = step(history)
        if found:
            edits += found
            history = DamagedHistory(apply(history.messages, found), dialect)
    return tuple(edits)


def _repaired(role: Role, parts: Iterable[Part], number: str) -> Message:
    return Message(role, tuple(parts), id=number, origin="repair")


# --- empty messages --------------------------------------------------------------------------


def is_empty(message: Message) -> bool:
    """Return True if a message has no content that a provider would accept."""
    return all(
        isinstance(part, Omitted) or (isinstance(part, Text) and not part.text.strip())
        for part in message.parts
    )


def _drop_empty(history: DamagedHistory) -> list[Edit]:
    messages, dialect = history.messages, history.dialect
    empty_ids = {message.id: None for message in messages if is_empty(message)}
    edits: list[Edit] = [Drop(tuple(empty_ids), "repair")] if empty_ids else []
    if dialect in BY_TURN or dialect in ONE_ANSWER:
        kept = [message for message in messages if message.id not in empty_ids]
        edits += [
            Rewrite(message.id, index, text, "repair", keep_media=True)
            for message in kept
            for index, part in enumerate(message.parts)
            for text in _without_blanks(part, dialect)
        ]
    return edits


def _without_blanks(part: Part, dialect: str) -> Iterator[str | None]:
    """Yield the replacement of a part that is rejected for its blank text (Gemini: no text)."""
    if isinstance(part, Text):
        if not (part.text if dialect in ONE_ANSWER else part.text.strip()):
            yield None
    elif isinstance(part, ToolResult) and len(part.content) > 1 and dialect in BY_TURN:
        texts = [piece.text for piece in part.content if isinstance(piece, Text)]
        plain = all(isinstance(piece, (Text, Media)) for piece in part.content)
        if plain and not all(text.strip() for text in texts):
            yield "\n".join(text for text in texts if text.strip())


# --- results without a call ------------------------------------------------------------------


def _move_early(history: DamagedHistory) -> list[Edit]:
    """Move results that precede their call behind it."""
    messages, pairing = history.messages, history.pairing
    waiting = {part_at(messages, site).id: site for site in reversed(pairing.open)}
    edits: list[Edit] = []
    for site in pairing.orphans:
        message = messages[site.message]
        result = message.parts[site.part]
        if len(message.parts) > 1 or not isinstance(result, ToolResult) or not result.call_id:
            continue
        call = waiting.get(result.call_id)
        if call is not None and call.message > site.message:
            edits.append(Move(message.id, messages[call.message].id))
            del waiting[result.call_id]
    return edits


def _drop_superseded(history: DamagedHistory) -> list[Edit]:
    """Remove results that another result of the same call followed before the model went on."""
    messages, pairing = history.messages, history.pairing
    if not pairing.late:
        return []
    steps = list(accumulate(message.role == "assistant" for message in messages))
    newest = {(call, steps[site.message]): site for call, site in pairing.answers.items()}
    superseded: dict[int, list[int]] = {}
    for site, call in pairing.late.items():  # in order
        before = newest.get((call, steps[site.message]))
        if before is not None:
            superseded.setdefault(before.message, []).append(before.part)
        newest[call, steps[site.message]] = site
    return [
        edit for index, parts in superseded.items() for edit in _without(messages[index], parts)
    ]


def _without(message: Message, parts: Sequence[int]) -> list[Edit]:
    """Remove parts of a message, or the message if it has no others."""
    if len(parts) == len(message.parts):
        return [Drop((message.id,), "repair")]
    return [Rewrite(message.id, index, None, "repair") for index in sorted(parts)]


def _rewrite_orphans(history: DamagedHistory) -> list[Edit]:
    messages, pairing = history.messages, history.pairing
    lost: dict[int, dict[int, str]] = {}
    for site in sorted((*pairing.orphans, *pairing.late)):
        why = LATER if site in pairing.late else ORPHAN
        lost.setdefault(site.message, {})[site.part] = why
    return [edit for index, parts in lost.items() for edit in _note_lost(messages[index], parts)]


def _note_lost(message: Message, lost: Mapping[int, str]) -> list[Edit]:
    """Turn lost results into a note; other parts of their message stay where they are."""
    texts = []
    for index, why in lost.items():
        part = message.parts[index]
        texts.append(Text(f"{why}\n{part.text}" if isinstance(part, ToolResult) else ""))
    note = _repaired("user", texts, derived_id("note", message.id))
    note = replace(note, intact=False, pinned=message.pinned)
    if len(lost) == len(message.parts):
        return [Fold((message.id,), note, "repair")]
    removals = [Rewrite(message.id, index, None, "repair") for index in lost]
    return [*removals, Insert(message.id, note)]


# --- calls without a result ------------------------------------------------------------------


def _close_unanswered(history: DamagedHistory) -> list[Edit]:
    messages, calls = history.messages, history.pairing.open
    waiting = pending_calls(messages, calls)
    dead = [site for site in calls if site not in waiting]
    return [Insert(messages[site.message].id, _closing(messages, site)) for site in reversed(dead)]


def _closing(messages: Sequence[Message], site: Site) -> Message:
    call = part_at(messages, site)
    result = ToolResult(call.id, (Text(NO_RESULT),), call.name, is_error=True)
    number = derived_id("closing", messages[site.message].id, str(site.part))
    return _repaired("tool", [result], number)


# --- order -----------------------------------------------------------------------------------


def _move_displaced(history: DamagedHistory) -> list[Edit]:
    if history.dialect in ANY_ORDER:
        return []
    messages, order = history.messages, _order_results(history)
    if all(map(eq, order, count())):
        return []
    current = LinkedKeys(range(len(messages)))
    edits: list[Edit] = []
    for before, index in pairwise(order):
        if messages[index].has_results and current.before(index) != before:
            current.remove(index)
            current.put(index, before)
            edits.append(Move(messages[index].id, messages[before].id))
    return edits


def _order_results(history: DamagedHistory) -> list[int]:
    """Return the positions of the messages, reordered so that results follow their calls."""
    behind: dict[int, set[int]] = {}
    for call, result in history.pairing.answers.items():
        if result.message != call.message:
            behind.setdefault(history.anchors[call.message], set()).add(result.message)
    order: dict[int, None] = {}
    for index in range(len(history.messages)):
        order[index] = None
        if index in behind:
            order.update(dict.fromkeys(sorted(behind[index])))
    return list(order)


def _gather_scattered(history: DamagedHistory) -> list[Edit]:
    """Merge the results of one turn from several messages into one, as Gemini requires."""
    if history.dialect not in ONE_ANSWER:
        return []
    edits: list[Edit] = []
    for answering, run in groupby(history.messages, lambda m: m.role == "tool" and m.has_results):
        together = list(run)
        if answering and len(together) > 1:
            ids = tuple(message.id for message in together)
            parts = tuple(part for message in together for part in message.parts)
            merged = replace(together[0], id=derived_id("merged", *ids), parts=parts)
            edits.append(Fold(ids, replace(merged, intact=False, origin="repair"), "repair"))
    return edits


def _separate_adjacent(history: DamagedHistory) -> list[Edit]:
    """Separate neighbouring assistant messages that the provider would reject."""
    dialect = history.dialect
    edits: list[Edit] = []
    for before, message in pairwise(history.messages):
        if not before.role == message.role == "assistant":
            continue
        if dialect in ONE_ANSWER and message.has_calls:
            number = derived_id("gap", before.id, message.id)
            edits.append(Insert(before.id, _repaired("user", [Text(GAP)], number)))
        elif dialect in BY_TURN:
            edits += [
                Rewrite(message.id, index, None, "repair")
                for index, part in enumerate(message.parts)
                if isinstance(part, Thinking)
            ]
    return edits


def _drop_dangling(history: DamagedHistory) -> list[Edit]:
    """Remove reasoning items that no other output of the model follows."""
    if history.dialect not in ANY_ORDER:
        return []
    dangling: list[str] = []
    following: Message | None = None
    for message in reversed(history.messages):
        thinks = message.role == "assistant" and all(
            isinstance(part, Thinking) for part in message.parts
        )
        if thinks and (following is None or following.role != "assistant"):
            dangling.append(message.id)
        else:
            following = message
    return [Drop(tuple(reversed(dangling)), "repair")] if dangling else []


def _add_first_user(history: DamagedHistory) -> list[Edit]:
    before = ""
    for message in history.messages:
        if message.role == "user":
            return []
        if message.role != "system":
            start = _repaired("user", [Text(START)], derived_id("start", message.id))
            return [Insert(before, start)]
        before = message.id
    return []


STEPS = (
    _drop_empty,
    _move_early,
    _drop_superseded,
    _rewrite_orphans,
    _close_unanswered,
    renumber,
    untangle_messages,
    _move_displaced,
    _gather_scattered,
    reorder,
    _separate_adjacent,
    _drop_dangling,
    _add_first_user,
)
"""The repairs, in order: each step relies on those before it."""
