"""The simplest, slow implementations of pairing, editing and repair, to check the fast ones."""

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
    history = list({message.id: message for message in messages}.values())
    for edit in edits:
        history = _applied(history, edit)
    return tuple(history)


def _applied(history, edit):
    ids = [message.id for message in history]
    match edit:
        case Rewrite():
            return [_rewritten(message, edit) for message in history]
        case Drop(messages=gone):
            return [message for message in history if message.id not in gone]
        case Fold(messages=gone, snapshot=snapshot):
            kept = [message for message in history if message.id not in gone]
            first = next((i for i, number in enumerate(ids) if number in gone), None)
            if first is None or snapshot.id in [message.id for message in kept]:
                return kept
            return [*kept[:first], snapshot, *kept[first:]]
        case Insert(after=after, message=message) if not after or after in ids:
            if message.id in ids:
                return [message if old.id == message.id else old for old in history]
            return _behind(history, message, after)
        case Move(message=number, after=after) if number != after and {number, after} <= {*ids}:
            rest = [message for message in history if message.id != number]
            return _behind(rest, history[ids.index(number)], after)
    return history


def _rewritten(message, edit):
    hit = message.id == edit.message and edit.part < len(message.parts)
    return rewrite_part(message, edit) if hit else message


def _behind(history, message, after):
    at = [old.id for old in history].index(after) + 1 if after else 0
    return [*history[:at], message, *history[at:]]


def repair(messages, dialect):
    edits = []
    for step in mending.STEPS:
        simple = {untangle_messages: _tangled, mending._move_displaced: _displaced}.get(step, step)
        found = simple(DamagedHistory(messages, dialect))
        edits += found
        messages = apply(messages, found)
    return tuple(edits)


def _anchor(history, index):
    if history.dialect in BY_TURN:
        while (
            index + 1 < len(history.messages) and history.messages[index + 1].role == "assistant"
        ):
            index += 1
    return index


def _displaced(history):
    if history.dialect in ANY_ORDER:
        return []
    messages, order = history.messages, _expected_order(history)
    current = list(range(len(messages)))
    edits = []
    if order == current:
        return edits
    for before, index in pairwise(order):
        if messages[index].results and current[current.index(index) - 1] != before:
            current.remove(index)
            current.insert(current.index(before) + 1, index)
            edits.append(Move(messages[index].id, messages[before].id))
    return edits


def _expected_order(history):
    behind = {}
    for call, result in pair(history.messages).answers.items():
        if result.message != call.message:
            behind.setdefault(_anchor(history, call.message), set()).add(result.message)
    order = []
    for index in range(len(history.messages)):
        for position in (index, *sorted(behind.get(index, ()))):
            if position not in order:
                order.append(position)
    return order


def _tangled(history):
    if history.dialect in ANY_ORDER:
        return []
    homes = {}
    for call, result in pair(history.messages).answers.items():
        if result.message != call.message:
            homes.setdefault(result.message, {})[result.part] = _anchor(history, call.message)
    edits = []
    for index in sorted(homes):
        for home in _leaving(history, homes, index):
            edits += _split(
                history.messages[index], [part for part, h in homes[index].items() if h == home]
            )
    return edits


def _leaving(history, homes, index):
    order = sorted(set(homes[index].values()))
    newest = order[-1]
    if all(isinstance(part, (ToolResult, Omitted)) for part in history.messages[index].parts):
        return order[:-1]
    there = [i for i in homes if newest in homes[i].values()]
    away = any(i not in there for i in range(newest + 1, index))
    alone = history.dialect in ONE_ANSWER
    shared = any(i > index or (alone and i < index) for i in there)
    return order if away or shared else order[:-1]
