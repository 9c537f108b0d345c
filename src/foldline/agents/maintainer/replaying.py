"""What a recorded session tells: which looks were made, and how often each tool was called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from foldline.agents.maintainer.guidance import Trail, folded
from foldline.values.messages import Message, ToolCall

LOOKS: Final = ("terminal", "read_file")


def trail_of(messages: Sequence[Message]) -> Trail:
    """Return the trail of the newest question: the looks after what the user said last."""
    begin = max((at for at, one in enumerate(messages) if _asks(one)), default=0)
    newest = messages[begin:]
    results = {result.call_id: result.text for one in newest for result in one.results}
    return folded(
        (call.name, arguments(call), results[call.id])
        for one in newest
        for call in one.calls
        if call.name in LOOKS and call.id in results
    )


def calls_by_tool(messages: Iterable[Message]) -> dict[str, int]:
    """Count the calls of a session by tool."""
    count = Counter(call.name for one in messages for call in one.calls)
    return dict(count.most_common())


def arguments(call: ToolCall) -> Mapping[str, Any]:
    """Return the arguments of a call; what is no object is none."""
    try:
        found = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _asks(message: Message) -> bool:
    return message.role == "user" and not message.results and bool(message.text.strip())
