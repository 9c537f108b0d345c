"""Messages that no rung may remove: task, rules, pins, unread results, pending calls, answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from foldline.values.frames import (
    has_command_output,
    has_words,
    is_bare,
    is_shell_command,
    is_summary,
    rules_of,
    rules_source,
    user_words,
)
from foldline.values.groups import Group
from foldline.values.messages import Message
from foldline.values.snapshot_mark import SNAPSHOT_HEADERS

Reason: TypeAlias = Literal[
    "system", "task", "latest", "rules", "answer", "pinned", "unread", "pending"
]


def unread(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of the messages with results that the model has not answered yet."""
    answered = _find_last_answer(messages)
    return frozenset(message.id for message in messages[answered + 1 :] if _is_answer(message))


def protected(
    messages: Sequence[Message],
    groups: Sequence[Group],
    late: Collection[str] = (),
    observed: Mapping[int, bool] = MappingProxyType({}),
) -> dict[int, Reason]:
    """
    Find the messages that must stay.

    Protected are the system messages ("system"; none that another agent sent and the model has
    read), the first and the latest message with words of
    the user ("task", "latest"), rules that an agent sends in the user's role, each text at its
    first occurrence and those of one file also in their newest version ("rules"), groups with a
    pinned member ("pinned"), tool results that the model has not answered yet, with their calls
    ("unread"), groups with a call that is still running ("pending"), and the answer with which
    the conversation ends ("answer").

    Args:
        messages: The view.
        groups: Its groups.
        late: Ids of further messages with results that the model has not answered yet.
        observed: Positions of user messages that are results, each with whether it is certain.

    Returns:
        The reason by position.
    """
    found: dict[int, Reason] = {}
    answered = _find_last_answer(messages)
    if groups and messages[-1].role == "assistant":
        last = next(group for group in reversed(groups) if group.end == len(messages))
        found.update(dict.fromkeys(last.members, "answer"))
    found.update(_rules(messages, observed))
    pinned = {index for index, message in enumerate(messages) if message.pinned}
    unanswered = {
        index
        for index in range(answered + 1, len(messages))
        if index in observed or _is_answer(messages[index])
    }
    if late:
        unanswered.update(i for i, message in enumerate(messages) if message.id in late)
    for group in groups:
        if not pinned.isdisjoint(group.members):
            found.update(dict.fromkeys(group.members, "pinned"))
        elif group.state == "pending":
            found.update(dict.fromkeys(group.members, "pending"))
        elif not unanswered.isdisjoint(group.members):
            found.update(dict.fromkeys(group.members, "unread"))
    found.update(_find_requests(messages, observed))
    found.update(_find_system(messages, answered))
    first = next((i for i, m in enumerate(messages) if m.role != "system"), None)
    if first is not None and messages[first].origin == "repair":
        # It is there because a conversation must not start with the model.
        found[first] = "task"
    return found


def _find_system(messages: Sequence[Message], answered: int) -> Iterator[tuple[int, Reason]]:
    """Yield system messages; what other agents answered is one of them until it is read."""
    for index, message in enumerate(messages):
        if message.role == "system" and (index > answered or not message.is_from_agent()):
            yield index, "system"


def _find_last_answer(messages: Sequence[Message]) -> int:
    last = range(len(messages) - 1, -1, -1)
    return next((index for index in last if messages[index].role == "assistant"), -1)


def _is_answer(message: Message) -> bool:
    """Return True if a message holds results, or a repair's note about some."""
    return bool(message.results) or message.origin == "repair"


def _find_requests(messages: Sequence[Message], observed: Mapping[int, bool]) -> dict[int, Reason]:
    """
    Find the task and the latest request.

    A slash or shell command or an interruption alone carries little information: the first and
    the latest message with more content are kept with it. The output of the user's last command is
    kept with the command. A summary at the start of a conversation replaces the words that it
    summarizes. A message that may be an output or words is kept, besides the latest one that is
    certainly not an output.
    """
    turns = [i for i, m in enumerate(messages) if not observed.get(i) and has_words(m)]
    if not turns:
        turns = [i for i, m in enumerate(messages) if m.is_from_user() and not is_snapshot(m)][:1]
    if not turns:
        return {}

    def is_telling(index: int) -> bool:
        return _is_telling(messages[index])

    newest = turns[::-1]
    first = next(filter(is_telling, turns), turns[0])
    telling = next(filter(is_telling, newest), None)
    latest = turns[-1] if telling is None else telling
    # Where no message says more than a command, each counts.
    certain = next(
        (i for i in newest if i not in observed and (telling is None or is_telling(i))), latest
    )
    found: dict[int, Reason] = dict.fromkeys((turns[-1], latest, certain), "latest")
    if turns[-1] + 1 < len(messages) and has_command_output(messages[turns[-1] + 1]):
        found[turns[-1] + 1] = "latest"
    return found | dict.fromkeys({turns[0], first, *_summary(messages)}, "task")


def _is_telling(message: Message) -> bool:
    return not is_shell_command(message) and not is_bare(user_words(message))


def _summary(messages: Sequence[Message]) -> Iterator[int]:
    """Yield the position of the first user message if it is an agent's summary."""
    first = next((i for i, m in enumerate(messages) if m.is_from_user()), None)
    if first is not None and is_summary(messages[first].text) and not is_snapshot(messages[first]):
        yield first


def _rules(
    messages: Sequence[Message], observed: Mapping[int, bool]
) -> Iterator[tuple[int, Reason]]:
    first: dict[str, int] = {}
    latest: dict[str, tuple[int, str]] = {}
    for index, message in enumerate(messages):
        # An output that starts like rules is not rules.
        for rules in () if observed.get(index) else rules_of(message):
            source = rules_source(rules)
            first.setdefault(source, index)
            if source not in latest or latest[source][1] != rules:
                latest[source] = index, rules
    # The first are always kept: text that only looks like a newer version must not replace them.
    yield from ((index, "rules") for index in first.values())
    yield from ((index, "rules") for index, _ in latest.values())


def is_snapshot(message: Message) -> bool:
    """Return True if a message is only a snapshot of an earlier compaction."""
    return message.role == "user" and (
        message.origin == "snapshot" or message.is_sealed(*SNAPSHOT_HEADERS)
    )
