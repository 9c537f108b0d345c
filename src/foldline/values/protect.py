"""What no rung may remove: the task, rules, pins, unread results, running calls, the answer."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, TypeAlias

from foldline.values.frames import (
    has_words,
    is_bare,
    is_summary,
    rules_of,
    rules_source,
    shows_output,
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
    return frozenset(message.id for message in messages[answered + 1 :] if _tells(message))


def protected(
    messages: Sequence[Message],
    groups: Sequence[Group],
    late: Collection[str] = (),
    observed: Mapping[int, bool] = MappingProxyType({}),
) -> dict[int, Reason]:
    """
    Find the messages that must stay.

    Protected are the system messages ("system"), the first and the latest message with words of
    the user ("task", "latest"), what an agent sends in the user's name as rules, each text where
    it stands first and those of one file also as they are now ("rules"), groups with a pinned
    member ("pinned"), tool results that the model has not answered yet, with their calls
    ("unread"), groups with a call that is still running ("pending"), and the answer with which
    the conversation ends ("answer").

    Args:
        messages: What is shown.
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
    for group in groups:
        reason: Reason | None = None
        if any(messages[i].pinned for i in group.members):
            reason = "pinned"
        elif group.state == "pending":
            reason = "pending"
        elif any(
            (i > answered and (i in observed or _tells(messages[i]))) or messages[i].id in late
            for i in group.members
        ):
            reason = "unread"
        if reason:
            found.update(dict.fromkeys(group.members, reason))
    found.update(_find_requests(messages, observed))
    found.update((i, "system") for i, message in enumerate(messages) if message.role == "system")
    first = next((i for i, m in enumerate(messages) if m.role != "system"), None)
    if first is not None and messages[first].origin == "repair":
        # It stands there because a conversation must not start with the model.
        found[first] = "task"
    return found


def _find_last_answer(messages: Sequence[Message]) -> int:
    last = range(len(messages) - 1, -1, -1)
    return next((index for index in last if messages[index].role == "assistant"), -1)


def _tells(message: Message) -> bool:
    """Return True if a message brings results, or the note that a repair made of some."""
    return bool(message.results) or message.origin == "repair"


def _find_requests(messages: Sequence[Message], observed: Mapping[int, bool]) -> dict[int, Reason]:
    """
    Find the task and the latest request.

    The name of a slash command or an interruption tells little by itself: the first and the
    latest message that says more stay with it. What a command gave out that the user ran last
    stays with that. A summary that an agent begins with stands for the words that it replaced.
    What may be an output as well as words stays, beside the latest that is surely no output.
    """
    turns = [i for i, m in enumerate(messages) if not observed.get(i) and has_words(m)]
    if not turns:
        turns = [i for i, m in enumerate(messages) if m.is_from_user() and not is_snapshot(m)][:1]
    if not turns:
        return {}
    telling = [i for i in turns if not is_bare(user_words(messages[i]))] or turns
    certain = [i for i in telling if i not in observed] or telling
    found: dict[int, Reason] = dict.fromkeys((turns[-1], telling[-1], certain[-1]), "latest")
    if turns[-1] + 1 < len(messages) and shows_output(messages[turns[-1] + 1]):
        found[turns[-1] + 1] = "latest"
    return found | dict.fromkeys({turns[0], telling[0], *_summary(messages)}, "task")


def _summary(messages: Sequence[Message]) -> Iterator[int]:
    """Yield where the first message of the user's role stands if it is an agent's summary."""
    first = next((i for i, m in enumerate(messages) if m.is_from_user()), None)
    if first is not None and is_summary(messages[first].text) and not is_snapshot(messages[first]):
        yield first


def _rules(
    messages: Sequence[Message], observed: Mapping[int, bool]
) -> Iterator[tuple[int, Reason]]:
    first: dict[str, int] = {}
    latest: dict[str, tuple[int, str]] = {}
    for index, message in enumerate(messages):
        # An output that begins as rules do is none.
        for rules in () if observed.get(index) else rules_of(message):
            source = rules_source(rules)
            first.setdefault(source, index)
            if source not in latest or latest[source][1] != rules:
                latest[source] = index, rules
    # The first stay in any case: what only looks like newer ones must not take their place.
    yield from ((index, "rules") for index in first.values())
    yield from ((index, "rules") for index, _ in latest.values())


def is_snapshot(message: Message) -> bool:
    """Return True if a message is a snapshot of an earlier compaction and nothing else."""
    return message.role == "user" and (
        message.origin == "snapshot" or message.is_sealed(*SNAPSHOT_HEADERS)
    )
