"""Facts read off a conversation without a model: the plan, and what is still broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.outputs.wrapping import exit_code, unwrap
from foldline.relevance.alarms import is_alarm, lines_with
from foldline.snapshot.calls import printed_verdict, user_reply
from foldline.snapshot.commands import ends_itself
from foldline.snapshot.invocations import Invocation, Invocations, signature
from foldline.snapshot.plans import call_plan
from foldline.values.groups import Site
from foldline.values.messages import Message, Text, ToolResult

_FAILURE = lazy_pattern(
    r"^(?:E\s+)?[\w.]*(?:Error|Exception)\b|\bFAIL(?:ED|URE)?\b(?![=: ]*0(?![\w./-]))|"
    r"^error(?:\[\w+\])?:|^fatal:|:\d{1,6}: (?:fatal )?error:|\berror TS\d|"
    r"^vet: \S{1,300}:\d{1,6}:\d{1,6}: |"
    r"\bpanic(?:ked)?\b|^Traceback \(most|exit (?:code|status)[: ]+-?[1-9]|<returncode>-?[1-9]|"
    r"\b[1-9]\d* (?:failed|errors?)\b|错误[:：]|失败"
)
_COUNTED = lazy_pattern(
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|\bFAIL(?:ED|URE)?\b(?![=: ]*0(?![\w./-]))|"
    r"^error(?:\[\w+\])?:|失败"
)
"""What says that something failed even where the last of several commands did not."""

_FAILURE_WORDS = (
    *("Error", "error", "ERROR", "Exception", "FAIL", "fatal", "panic", "Traceback", "exit "),
    *("failed", "failure", "<returncode>", "vet: ", "错误", "失败"),
)
"""One of these stands in every line that `_FAILURE` or `_COUNTED` finds."""

_NAMED = lazy_pattern(
    r"(?:[a-z](?:Error|Exception)|\b(?<!0 )(?<!no )(?i:error))(?:[:(] ?|\s)[\"A-Za-z]"
)
"""What names an error, wherever it stands in a line."""

_EXITED = lazy_pattern(r"exit code -?\d{1,5}")
"""Says nothing beside a line that tells what failed."""

SCAN_HEAD, SCAN_TAIL = 100_000, 1_000
"""Characters at the beginning and at the end of a result in which failures are looked for."""

AIMS: Final = 60
"""So many different things that calls were after last are looked at for failures."""

_LOADS_PAGE = lazy_pattern(
    r"(?i)(?:.{0,80}(?:__|[./:]))?(?:"
    r"(?:[a-z0-9]{1,20}[_-])?web[_-]?(?:fetch|search)(?:[_-]?(?:exa|call|preview|tool))?"
    r"|(?:google|internet|tavily|brave|exa|bing|duckduckgo|ddg|perplexity)[_-]?search"
    r"|(?:fetch|read|visit)[_-]?(?:url|html|(?:web[_-]?)?page)(?:[_-]content)?)"
    r"|(?:mcp_{1,2}fetch_{1,2})?fetch|search"
)
"""The names of tools that load a page or search the web."""

NO_ARGUMENTS: Final = ("", "{}", "[]", "null")
"""Arguments that say nothing."""

_CHECKBOX = lazy_pattern(r"^\s*(?:[-*]|\d+\.)\s*\[[ xX~-]\]")


@frozen
class Finding:
    """Lines that matter, with the position of their message, and what the call was after."""

    position: int
    lines: tuple[str, ...]
    aim: str = ""


def plan(messages: Sequence[Message]) -> Finding | None:
    """Return the newest to-do list: from a planning tool, or check boxes that the model wrote."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        for call in message.calls:
            if (lines := call_plan(call)) is not None:
                return Finding(position, lines) if lines else None
        if message.role == "assistant":
            boxes = tuple(line.strip() for line in _lines(message) if _CHECKBOX.match(line))
            if boxes:
                return Finding(position, boxes[:40])
    return None


def open_errors(calls: Invocations, most: int = 3) -> list[Finding]:
    """
    Find failures that nothing later made good.

    A failure is open until the same call succeeds, or another edit of the same file. What was
    only read does not count; nor does what a command prints that ends well, but for a count of
    failures: the last of several commands may be the one that did.

    Returns:
        The newest ``most`` of them, latest first, each with its telling lines.
    """
    failures = islice(_failures(calls), most)
    return [Finding(site.message, telling, aim) for site, telling, aim in failures]


def open_failures(calls: Invocations, most: int = 5) -> frozenset[Site]:
    """Return where the newest results stand that failed and that nothing later made good."""
    return frozenset(site for site, _, _ in islice(_failures(calls), most))


def _failures(calls: Invocations) -> Iterator[tuple[Site, tuple[str, ...], str]]:
    """Yield where an open failure stands, the lines that tell of it and its aim, newest first."""
    seen = set[tuple[str, str]]()
    for call, site, result in calls.newest_first():
        name, aim = call.call.name, _aim(call)
        if aim is None or (name, aim.key) in seen:
            continue
        seen.add((name, aim.key))
        # What the user refused did not fail.
        if not user_reply(name, result) and (telling := _telling(result, aim)):
            yield site, telling, aim.text
        if len(seen) == AIMS:
            return


def _telling(result: ToolResult, aim: _Aim) -> tuple[str, ...]:
    """Return the first and the last line of a result that say that something failed."""
    text = unwrap(result.text)
    # An exit code stands at the end.
    text = text if len(text) <= SCAN_HEAD else f"{text[:SCAN_HEAD]}\n{text[-SCAN_TAIL:]}"
    lines = text.split("\n")
    passed = not result.is_error and exit_code(result.text) == 0 and aim.is_judged
    says = _COUNTED if passed else _FAILURE
    near = sorted(lines_with(lines, _FAILURE_WORDS))
    first = next((place for place in near if _finds(says, lines[place])), None)
    if first is not None:
        behind = (at for at in reversed(near) if not _EXITED.fullmatch(lines[at]))
        last = next((place for place in behind if _finds(says, lines[place])), first)
        if first == last and _EXITED.fullmatch(lines[first]):
            # It tells less than a line that names an error in an unknown place, or the last one.
            named = [at for at in near if _finds(_NAMED, lines[at])]
            if not named:
                return (printed_verdict(lines[first], text)[:300],)
            first, last = named[0], named[-1] if len(named) > 1 else last
        return tuple(dict.fromkeys(_complete_line(lines, place) for place in (first, last)))
    if not result.is_error:
        return ()
    bare = [line.strip()[:300] for line in lines]
    alarms = [line for line in bare if is_alarm(line)] or [line for line in bare if line]
    return tuple(dict.fromkeys((*alarms[:1], *alarms[-1:])))


def _finds(pattern: re.Pattern[str], line: str) -> bool:
    return pattern.search(line.strip()[:300]) is not None


def _complete_line(lines: Sequence[str], place: int) -> str:
    """Return a line, and the next one where it only announces that."""
    line = lines[place].strip()[:300]
    if len(line) > 40 or not line.endswith(":"):
        return line
    behind = (other.strip()[:300] for other in islice(lines, place + 1, None))
    return f"{line} {next(filter(None, behind), '')}".rstrip()


@frozen
class _Aim:
    """
    What a call is after: an edit its file, a command itself, any other its arguments.

    Calls of one tool with the same ``key`` are after the same.
    """

    key: str
    text: str
    is_command: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether an exit code tells of all that is run."""
        return not self.is_command or ends_itself(self.text)


def _aim(call: Invocation) -> _Aim | None:
    """
    Return what a call is after; None when it only shows a file or a page.

    The text of a file may name errors, and a page that does not load breaks nothing.
    """
    if call.only_reads or (not call.command and _LOADS_PAGE.fullmatch(call.call.name)):
        return None
    changed = next((path for path, _ in call.changed_by_tool), "")
    # Several edits in one call are known by all that they change.
    if changed and (call.path or " File: " in call.call.arguments):
        return _Aim(changed, changed)
    if command := call.command:
        return _Aim(call.run_key, command, is_command=True)
    name, arguments = signature(call.call)
    return _Aim(arguments, f"{name} {arguments}" if arguments not in NO_ARGUMENTS else name)


def _lines(message: Message) -> Iterable[str]:
    for part in message.parts:
        if isinstance(part, Text):
            yield from part.text[:100_000].split("\n")
