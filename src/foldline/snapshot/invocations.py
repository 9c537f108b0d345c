"""Invocations: the calls of a conversation, each read once: arguments, command and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from foldline.frozen import frozen
from foldline.snapshot.commands import changed_files, command_of, only_shows, run_key
from foldline.snapshot.file_operations import CHANGES, file_operations
from foldline.values.call_arguments import parse_arguments
from foldline.values.groups import Pairing, Site, pair
from foldline.values.messages import Message, ToolCall, ToolResult


@frozen
class Invocation:
    """A call with its ``arguments`` as a value, None where they are not JSON."""

    call: ToolCall
    arguments: Any

    @cached_property
    def command(self) -> str:
        """The shell command that it runs, "" for none."""
        return command_of(self.arguments)

    @cached_property
    def only_shows(self) -> bool:
        """Whether its command only shows something."""
        return only_shows(self.command)

    @cached_property
    def run_key(self) -> str:
        """What its command runs, as `commands.run_key` has it."""
        return run_key(self.command)

    @cached_property
    def files(self) -> tuple[tuple[str, str], ...]:
        """The files that its arguments name, with what its tool does to each."""
        return tuple(file_operations(self.call, self.arguments))

    @cached_property
    def changed_by_tool(self) -> tuple[tuple[str, str], ...]:
        """Those of these files that its tool changes."""
        return tuple(one for one in self.files if one[1] in CHANGES)

    @cached_property
    def changed_by_shell(self) -> tuple[tuple[str, str], ...]:
        """The files that its command changes, with what is done to each."""
        folder = self.arguments.get("workdir") if self.command else ""
        return tuple(changed_files(self.command, folder if isinstance(folder, str) else ""))

    @property
    def only_reads(self) -> bool:
        """Whether it only shows a file or what a command prints of it."""
        return self.files[0][1] == "read" if self.files else self.only_shows


class Invocations(dict[Site, Invocation]):
    """
    The calls of some messages by their sites; each is read when it is first looked up.

    Args:
        messages: The messages.
        pairing: Their calls and results, if already known.
        parse: Returns call arguments as a value.
    """

    def __init__(
        self,
        messages: Sequence[Message],
        pairing: Pairing | None = None,
        parse: Callable[[str], Any] = parse_arguments,
    ) -> None:
        self.messages, self.pairing = messages, pairing or pair(messages)
        self._parse = parse

    def __missing__(self, site: Site) -> Invocation:
        call = self.messages[site.message].parts[site.part]
        if not isinstance(call, ToolCall):
            raise KeyError(site)
        found = self[site] = Invocation(call, self._parse(call.arguments))
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
