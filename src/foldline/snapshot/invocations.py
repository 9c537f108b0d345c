"""Invocations: the calls of a conversation, each read once: arguments, command and files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.commands import changed_files, command_of, only_shows, run_key
from foldline.snapshot.file_operations import (
    CHANGES,
    LOOKS,
    file_operations,
    path_argument,
    tool_operation,
)
from foldline.values.call_arguments import parse_arguments
from foldline.values.groups import Pairing, Site, pair
from foldline.values.messages import Message, ToolCall, ToolResult


class Invocation:
    """
    A call, read once; its arguments are not kept, which may be large.

    ``command`` is the shell command that it runs, "" for none, and ``folder`` where, as far as its
    arguments say; ``only_shows`` is whether that only shows something, ``changed_by_shell`` are
    the files that it changes, with what is done to each. ``operation`` is what its tool does to
    files, "" where that is unknown, ``files`` are those that its arguments name, with what is done
    to each, and ``path`` is the one that an argument names for itself.
    """

    __slots__ = (
        *("call", "changed_by_shell", "command", "files", "folder"),
        *("only_shows", "operation", "path", "_run_key"),
    )

    def __init__(self, call: ToolCall) -> None:
        arguments = parse_arguments(call.arguments)
        folder = arguments.get("workdir") if isinstance(arguments, dict) else ""
        self.call = call
        self.command = command_of(arguments)
        self.folder = folder if isinstance(folder, str) else ""
        self.only_shows = only_shows(self.command)
        self.changed_by_shell = tuple(changed_files(self.command, self.folder))
        self.operation = tool_operation(call.name, arguments)
        self.files = tuple(file_operations(call, arguments, self.operation))
        self.path = path_argument(arguments) if self.files else ""
        self._run_key = ""

    @property
    def changed_by_tool(self) -> tuple[tuple[str, str], ...]:
        """The files that its tool changes, with what is done to each."""
        return tuple(one for one in self.files if one[1] in CHANGES)

    @property
    def run_key(self) -> str:
        """What its command runs, as `commands.run_key` has it."""
        self._run_key = self._run_key or run_key(self.command)
        return self._run_key

    @property
    def only_reads(self) -> bool:
        """Whether it only shows a file or what a command prints of it."""
        is_known = self.operation and self.files
        return self.files[0][1] in LOOKS if is_known else self.only_shows


_AGENT_TOOLS: Final = lazy_pattern(
    r"(?i)(?:task|agent|explore|dispatch_agent|spawn_agent|wait_agent|subagent\w*|delegate\w*)"
)
_WAITING: Final = "wait"
_AGENTS = lazy_pattern(r'"(?:ids|targets|agent\w{0,20})"\s*:')
"""The name of a call that waits for other agents or for a command, and what names the agents."""

FETCHING: Final = "TaskOutput"
"""The name of a call that fetches the report of another agent, or the output of a command."""

SHORT_CALL: Final = 2_000
"""Characters of the arguments of a call that waits."""


def asks_agent(call: ToolCall) -> bool:
    """Return True if another agent answers a call."""
    if call.name.lower() == _WAITING:
        return _AGENTS.search(call.arguments, 0, SHORT_CALL) is not None
    return _AGENT_TOOLS.fullmatch(call.name) is not None


def signature(call: ToolCall) -> tuple[str, str]:
    """Return what makes two calls the same: the tool and its arguments in canonical form."""
    arguments = parse_arguments(call.arguments)
    try:
        canonical = json.dumps(arguments, sort_keys=True)
    except RecursionError:
        return call.name, call.arguments
    return call.name, call.arguments if arguments is None else canonical


class Invocations(dict[Site, Invocation]):
    """
    The calls of some messages by their sites; each is read when it is first looked up.

    Args:
        messages: The messages.
        pairing: Their calls and results, if already known.
        read: Reads a call.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        pairing: Pairing | None = None,
        read: Callable[[ToolCall], Invocation] = Invocation,
    ) -> None:
        self.messages, self.pairing = messages, pairing or pair(messages)
        self._read = read

    def __missing__(self, site: Site) -> Invocation:
        call = self.messages[site.message].parts[site.part]
        if not isinstance(call, ToolCall):
            raise KeyError(site)
        found = self[site] = self._read(call)
        return found

    def result(self, site: Site) -> ToolResult | None:
        """Return the result of the call at a site, None where it has none."""
        answer = self.pairing.answers.get(site)
        part = self.messages[answer.message].parts[answer.part] if answer else None
        return part if isinstance(part, ToolResult) else None

    def newest_first(self) -> Iterator[tuple[Invocation, Site, ToolResult]]:
        """Yield every call that has a result with it and where that stands, the newest first."""
        for call, answer in reversed(self.pairing.answers.items()):
            if result := self.result(call):
                yield self[call], answer, result
