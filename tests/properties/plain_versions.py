"""The simplest ways to pair, edit and mend, however slow: the fast ones have to agree."""

from itertools import pairwise

from foldline.repair import repair as mending
from foldline.repair.untangle import DamagedHistory, _split, untangle_messages
from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite, rewrite_part
from foldline.values.groups import pair
from foldline.values.messages import Omitted, ToolResult
from foldline.values.provider_rules import ANY_ORDER, BY_TURN, ONE_ANSWER


def pending(messages, call):
    results = False
    for message in messages[call.message + 1 :]:
        if message.is_from_user() or (results and message.role == "assistant"):
            return False
        results = results or bool(message.results)
    return True


def apply(messages, edits):
    shown = list({message.id: message for message in messages}.values())
    for edit in edits:
        shown = _applied(shown, edit)
    return tuple(shown)


def _applied(shown, edit):
    ids = [message.id for message in shown]
    match edit:
        case Rewrite():
            return [_rewritten(message, edit) for message in shown]
        case Drop(messages=gone):
            return [message for message in shown if message.id not in gone]
        case Fold(messages=gone, snapshot=snapshot):
            kept = [message for message in shown if message.id not in gone]
            first = next((i for i, number in enumerate(ids) if number in gone), None)
            if first is None or snapshot.id in [message.id for message in kept]:
                return kept
            return [*kept[:first], snapshot, *kept[first:]]
        case Insert(after=after, message=message) if not after or after in ids:
            if message.id in ids:
                return [message if old.id == message.id else old for old in shown]
            return _behind(shown, message, after)
        case Move(message=number, after=after) if number != after and {number, after} <= {*ids}:
            rest = [message for message in shown if message.id != number]
            return _behind(rest, shown[ids.index(number)], after)
    return shown


def _rewritten(message, edit):
    hit = message.id == edit.message and edit.part < len(message.parts)
    return rewrite_part(message, edit) if hit else message


def _behind(shown, message, after):
    at = [old.id for old in shown].index(after) + 1 if after else 0
    return [*shown[:at], message, *shown[at:]]


def repair(messages, dialect):
    edits = []
    for step in mending.STEPS:
        simple = {untangle_messages: _tangled, mending._move_displaced: _displaced}.get(step, step)
        found = simple(DamagedHistory(messages, dialect))
        edits += found
        messages = apply(messages, found)
    return tuple(edits)


def _anchor(shown, index):
    if shown.dialect in BY_TURN:
        while index + 1 < len(shown.messages) and shown.messages[index + 1].role == "assistant":
            index += 1
    return index


def _displaced(shown):
    if shown.dialect in ANY_ORDER:
        return []
    messages, wanted = shown.messages, _wanted_order(shown)
    current = list(range(len(messages)))
    edits = []
    if wanted == current:
        return edits
    for before, index in pairwise(wanted):
        if messages[index].results and current[current.index(index) - 1] != before:
            current.remove(index)
            current.insert(current.index(before) + 1, index)
            edits.append(Move(messages[index].id, messages[before].id))
    return edits


def _wanted_order(shown):
    behind = {}
    for call, result in pair(shown.messages).answers.items():
        if result.message != call.message:
            behind.setdefault(_anchor(shown, call.message), set()).add(result.message)
    order = []
    for index in range(len(shown.messages)):
        for position in (index, *sorted(behind.get(index, ()))):
            if position not in order:
                order.append(position)
    return order


def _tangled(shown):
    if shown.dialect in ANY_ORDER:
        return []
    homes = {}
    for call, result in pair(shown.messages).answers.items():
        if result.message != call.message:
            homes.setdefault(result.message, {})[result.part] = _anchor(shown, call.message)
    edits = []
    for index in sorted(homes):
        for home in _leaving(shown, homes, index):
            edits += _split(
                shown.messages[index], [part for part, h in homes[index].items() if h == home]
            )
    return edits


def _leaving(shown, homes, index):
    wanted = sorted(set(homes[index].values()))
    newest = wanted[-1]
    if all(isinstance(part, (ToolResult, Omitted)) for part in shown.messages[index].parts):
        return wanted[:-1]
    there = [i for i in homes if newest in homes[i].values()]
    away = any(i not in there for i in range(newest + 1, index))
    alone = shown.dialect in ONE_ANSWER
    shared = any(i > index or (alone and i < index) for i in there)
    return wanted if away or shared else wanted[:-1]
