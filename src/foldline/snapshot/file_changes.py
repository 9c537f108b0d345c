"""File changes: which files calls changed, read off their arguments and results."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from foldline.core.retention_settings import PATH_KEYS
from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.snapshot.calls import brief_refusal
from foldline.snapshot.file_operations import CONTENT
from foldline.snapshot.invocations import Invocation, Invocations
from foldline.values.groups import Site
from foldline.values.messages import Message, ToolCall, ToolResult

_WINDOW = lazy_pattern(
    r"(?:Text replaced[^\[]{0,300})?"
    r"\[File: (\S.{0,299}?) \(\d{1,9} lines total(?: after edit)?\)\]"
)
"""How editors of SWE-agent and OpenHands say which file they show: the one that they change."""

_EDITOR = lazy_pattern(r"(?:edit|insert|append|create)(?:_file(?:_\w{1,40})?)?")
_EDITING = lazy_pattern(
    r"(?:Running Python code interactively:\s{1,9})?"
    r"(?:create(?:_file)?|edit(?:_file\w{0,40})?|insert\w{0,40}|append\w{0,40}|EDITED_CODE)\b"
)
"""The names of calls that change it, and how such a call begins that is written as a command."""

_WHOLE = lazy_pattern(
    r"(?i)(?:\w{0,60}__)?(?:(?:write|create|save|overwrite)(?:_?to)?(?:_?text)?(?:_?file)?"
    r"|file_?write|fs_?write|str_replace(?:_based)?_edit(?:or|_tool)|text_?editor\w{0,20})"
)
"""The names of tools that write whole files."""

BESIDE: Final = frozenset((*PATH_KEYS, *CONTENT, "description", "explanation", "overwrite"))
"""All arguments that a call has that writes a whole file."""

_DONE = lazy_pattern(
    r"(?i)\A\W{0,9}(?:success\w*|updated|edited|written|wrote|overwr\w+|created|saved|applied|added"
    r"|deleted|moved|done|ok|replaced(?! 0\b))\b|"
    r"\b(?:has|have) been (?:updated|edited|written|created|saved|applied|added|replaced)\b|"
    r"\A\W{0,9}(?:file \S{1,300}|[1-9]\d{0,5} (?:edits?|changes?|replacements?)) (?:was |were )?"
    r"(?:updated|edited|written|created|saved|applied|made)\b"
)
_BEGINS_REFUSED = lazy_pattern(
    r"(?i)\A\W{0,9}(?:\w{0,40}error(?=\W*[:.,!]|\W*\Z)|(?:failed|invalid|unable|cannot|could not|"
    r"(?:(?:access|change|command|edit|operation|patch|permission|request|write) )?"
    r"(?:denied|refused|rejected|forbidden|disallowed))\b(?![./\\-]\w))"
)
_REFUSED = lazy_pattern(
    r"\b(?:denied|refused|rejected|declined|forbidden|blocked|disallowed|no such file|cannot|"
    r"could not|not (?:found|allowed|permitted|exist|authori[sz]ed|changed since))\b|"
    r"拒绝|不存在|无法|禁止",
    re.IGNORECASE,
)
_NAMES = lazy_pattern(r"`[^`\n]*+`|'[^'\n]*+'|\"[^\"\n]*+\"|[^\s./\\]*+[./\\]\S++")
_NOT_APPLIED = lazy_pattern(
    r"(?i)\b(?:changes?|edits?|patch) \w{0,10} ?(?:has|have|was|were) not (?:been )?applied\b|"
    r"\bno (?:changes|edits?|replacements?) (?:was|were) (?:made|performed)\b|"
    r"\bproposed edit has introduced\b|\b0 occurrences\b(?!.{0,200}\b[1-9]\d* occ)|"
    r"\bstring to replace (?:was )?not found\b|\bdid not appear verbatim\b"
)
_NOT_REMOVED = lazy_pattern(r"(?m)^(?:\S{1,40}/)?rm: ")
"""How `rm` says that it did not delete something."""

LONGEST_ROW: Final = 300
"""Maximum characters of the path of a changed file; a longer one tells nobody anything."""

REFUSED_LINES, REFUSED, REPORTED = 5, 400, 2_000
"""Lines and characters of a refusal, and of the beginning of a report in which one is named."""


@frozen
class FileFact:
    """A file with what was done to it last; ``position`` is that of the call's message."""

    path: str
    operation: str
    position: int
    times: int


def files(messages: Sequence[Message]) -> list[FileFact]:
    """List the files that tools touched, latest first, with the last operation on each."""
    found: dict[str, FileFact] = {}
    for position, message in enumerate(messages):
        for call in message.calls:
            for path, done in Invocation(call).files:
                times = found.pop(path).times + 1 if path in found else 1
                # One fact is one line: a line feed could pass for a heading or a handle.
                done = done or " ".join(call.name[:80].split())
                found[path] = FileFact(path, done, position, times)
    return list(reversed(found.values()))


def changes(calls: Invocations, positions: Iterable[int]) -> Iterator[FileFact]:
    """Yield the calls at some positions that created, wrote, edited or deleted a file."""
    for position in positions:
        for place, part in enumerate(calls.messages[position].parts):
            if isinstance(part, ToolCall):
                site = Site(position, place)
                for path, done in _find_changes(calls[site], calls.result(site)):
                    if len(path) <= LONGEST_ROW:
                        yield FileFact(path, done, position, 1)


def _find_changes(call: Invocation, result: ToolResult | None) -> Iterator[tuple[str, str]]:
    """Yield the files that a call changed, with what it did to each."""
    by_shell = call.changed_by_shell
    named = call.changed_by_tool or (() if by_shell else tuple(_find_open_file(call.call, result)))
    if not (named or by_shell) or changes_nothing(call, result):
        return
    yield from named
    kept = result is not None and is_not_removed(result.text)
    yield from (one for one in by_shell if not (kept and one[1] == "deleted"))


def is_not_removed(text: str) -> bool:
    """Return True if a command says that it did not delete something."""
    return _NOT_REMOVED.search(text) is not None


def _find_open_file(call: ToolCall, result: ToolResult | None) -> Iterator[tuple[str, str]]:
    """Yield the file that an editor had open when it changed something, with what it did."""
    if result is None or "[File: " not in result.text[:REPORTED]:
        return
    window = _WINDOW.match(result.text)
    is_text = not call.arguments.lstrip().startswith("{")
    done = _EDITOR.fullmatch(call.name) or (_EDITING.match(call.arguments) if is_text else None)
    if window and done:
        yield window[1], "created" if done[0] in ("create", "create_file") else "edited"


def written_whole(call: Invocation, arguments: Any, result: ToolResult | None) -> str:
    """
    Return the path of the file that a call wrote whole for sure, "" where it wrote none.

    Args:
        call: The call.
        arguments: Its arguments without what says why it is made.
        result: Its result.
    """
    if not isinstance(arguments, dict) or not _WHOLE.fullmatch(call.call.name):
        return ""
    others = {name: value for name, value in arguments.items() if name not in BESIDE}
    texts = [name for name in CONTENT if isinstance(arguments.get(name), str)]
    path = call.path
    if not path or len(texts) != 1 or others not in ({}, {"command": "create"}):
        return ""
    if result is None or changes_nothing(call, result):
        return ""
    report = result.text[:REFUSED]
    return path if _DONE.search(report) or posixpath.basename(path) in report else ""


def changes_nothing(call: Invocation, result: ToolResult | None) -> bool:
    """Return True if the result of an edit says that nothing was changed."""
    if result is None:
        return False
    refusal = brief_refusal(result.text)
    if call.command and not call.path:
        # It may print such words, and of one that failed the part that edits may have run.
        return bool(refusal) and (result.is_error or refusal != result.text)
    return bool(refusal) or result.is_error or is_unchanged(result.text)


def is_refusal(text: str) -> bool:
    """Return True if a tool says, without marking it as an error, that it did or shows nothing."""
    if len(text) > REFUSED or text.count("\n") >= REFUSED_LINES:
        return False
    if _BEGINS_REFUSED.match(text):
        return True
    # A path or a title may have such a word, too.
    return _DONE.search(text) is None and _REFUSED.search(_NAMES.sub(" ", text)) is not None


def is_unchanged(text: str) -> bool:
    """Return True if a tool that edits says that it changed nothing, in few or in many words."""
    report = text[:REPORTED]
    says_so = _DONE.search(report[:REFUSED]) is None and _NOT_APPLIED.search(report) is not None
    return says_so or is_refusal(text)
