"""
Groups: the smallest units that may be moved.

A group is an assistant message with tool calls, all results of these calls and the reasoning
bound to them, found by union-find over the calls. Calls and results pair by id and occurrence
(ids repeat in real histories), or by tool name and order where the wire has no ids. Everything
else is a group of one.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from foldline.frozen import frozen
from foldline.values.messages import Message, Thinking, ToolCall, ToolResult

GroupState: TypeAlias = Literal["closed", "pending", "broken"]


@frozen
class Group:
    """
    Positions of messages that move together.

    ``state`` is "pending" while a call may still get its result, "broken" if it never will or a
    result has no call, else "closed".
    """

    members: tuple[int, ...]
    state: GroupState = "closed"

    @property
    def start(self) -> int:
        """Position of the first member."""
        return self.members[0]

    @property
    def end(self) -> int:
        """Position after the last member."""
        return self.members[-1] + 1


class Site(NamedTuple):
    """The location of a part: position of the message, position of the part in it."""

    message: int
    part: int


@frozen
class Pairing:
    """
    The pairs of calls and results.

    ``answers`` maps a call to its result; ``open`` are calls without a result, ``orphans`` results
    without a call, ``late`` maps further results of an answered call to that call.
    """

    answers: dict[Site, Site]
    open: tuple[Site, ...]
    orphans: tuple[Site, ...]
    late: dict[Site, Site]


def pair(messages: Sequence[Message]) -> Pairing:
    """
    Match results to calls.

    If several calls with the same id (without ids, of the same tool) are pending, those of the
    newest step come first, in order: an old abandoned call takes no result of a later one.

    Args:
        messages: The conversation in order.

    Returns:
        The pairing, by positions.
    """
    waiting = Waiting()
    answered: dict[str, Site] = {}
    answers: dict[Site, Site] = {}
    late: dict[Site, Site] = {}
    orphans: list[Site] = []
    for index, message in enumerate(messages):
        waiting.begin(index, message)
        for position, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                waiting.add(part, Site(index, position))
            elif isinstance(part, ToolResult):
                site, number = Site(index, position), part.call_id or ""
                call = waiting.take(part)
                if call is not None:
                    answers[call] = site
                    answered[number] = call
                elif number and number in answered:
                    late[site] = answered[number]
                else:
                    orphans.append(site)
    return Pairing(answers, waiting.left(), tuple(orphans), late)


class Waiting:
    """
    The calls without a result so far, while a conversation is read message by message.

    They are found by their id, or by the name of their tool where the wire has no ids.
    """

    def __init__(self) -> None:
        self._waiting: dict[str | tuple[str], list[deque[Site]]] = {}
        self._step = 0

    def begin(self, index: int, message: Message) -> None:
        """Start reading a message; the calls of one step share a queue."""
        if message.role != "assistant":
            self._step = index

    def add(self, call: ToolCall, site: Site) -> None:
        """Add a call."""
        queues = self._waiting.setdefault(call.id or (call.name,), [])
        if not queues or queues[-1][0].message < self._step:
            queues.append(deque())
        queues[-1].append(site)

    def take(self, result: ToolResult) -> Site | None:
        """Remove and return the call that a result answers; None if there is none."""
        key = result.call_id or (result.name,)
        queues = self._waiting.get(key)
        if queues is None:
            return None
        call = queues[-1].popleft()
        if not queues[-1]:
            queues.pop()
        if not queues:
            del self._waiting[key]
        return call

    def left(self) -> tuple[Site, ...]:
        """Return the calls without a result, in order."""
        waiting = self._waiting.values()
        return tuple(sorted(site for queues in waiting for sites in queues for site in sites))


class _Forest:
    """Union-find over positions, with path halving."""

    def __init__(self, size: int) -> None:
        self.parent = list(range(size))

    def root(self, node: int) -> int:
        while self.parent[node] != node:
            self.parent[node] = self.parent[self.parent[node]]
            node = self.parent[node]
        return node

    def join(self, left: int, right: int) -> None:
        low, high = sorted((self.root(left), self.root(right)))
        self.parent[high] = low


def group(messages: Sequence[Message], pairing: Pairing | None = None) -> tuple[Group, ...]:
    """
    Partition a conversation into groups.

    Args:
        messages: The conversation in order.
        pairing: Its `pair`, if already known.

    Returns:
        Groups ordered by their first member; every position is in exactly one group.
    """
    pairing = pairing or pair(messages)
    forest = _Forest(len(messages))
    for call, result in pairing.answers.items():
        forest.join(call.message, result.message)
    for late, call in pairing.late.items():
        forest.join(late.message, call.message)
    _join_reasoning(messages, forest)
    _join_interleaved(messages, pairing, forest)
    members: dict[int, list[int]] = defaultdict(list)
    for index in range(len(messages)):
        members[forest.root(index)].append(index)
    states = _states(messages, pairing, forest)
    return tuple(
        Group(tuple(members[root]), states.get(root, "closed")) for root in sorted(members)
    )


def _join_reasoning(messages: Sequence[Message], forest: _Forest) -> None:
    """Bind a message of only reasoning to the model's next message."""
    for index in range(len(messages) - 1):
        here, following = messages[index], messages[index + 1]
        if here.role == following.role == "assistant" and only_thinks(here):
            forest.join(index, index + 1)


def only_thinks(message: Message) -> bool:
    """Return True if a message holds only reasoning."""
    return bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


def _join_interleaved(messages: Sequence[Message], pairing: Pairing, forest: _Forest) -> None:
    """Bind adjacent assistant messages whose results follow both: one parallel step."""
    for call, result in pairing.answers.items():
        following = call.message + 1
        if following < result.message:
            message = messages[following]
            if message.role == "assistant" and message.has_calls:
                forest.join(call.message, following)


def pending_calls(messages: Sequence[Message], calls: Iterable[Site]) -> frozenset[Site]:
    """
    Return the calls without a result that may still get one.

    A call may, unless the conversation continued without it: a user message followed, or the model
    wrote a message after another result that arrived later.

    Args:
        messages: The conversation in order.
        calls: Calls in it without a result.
    """
    end = _abandoned_before(messages)
    return frozenset(call for call in calls if call.message >= end)


def _abandoned_before(messages: Sequence[Message]) -> int:
    """Return the position before which calls without a result will never get one."""
    went_on = False
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.is_from_user() or (went_on and message.has_results):
            return index
        went_on = went_on or message.role == "assistant"
    return 0


def _states(
    messages: Sequence[Message], pairing: Pairing, forest: _Forest
) -> dict[int, GroupState]:
    states: dict[int, GroupState] = {}
    for site in (*pairing.orphans, *pairing.late):
        states[forest.root(site.message)] = "broken"
    waiting = pending_calls(messages, pairing.open)
    for site in pairing.open:  # in order: a group with a pending call is pending
        states[forest.root(site.message)] = "pending" if site in waiting else "broken"
    return states
