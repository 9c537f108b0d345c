"""Which files calls touch and what they did to each, read off their arguments and results."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from foldline.core.retention_settings import PATH_KEYS
from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.snapshot.calls import EDITED, brief_refusal
from foldline.snapshot.commands import arguments_of, changed_files, command_of
from foldline.values.groups import Pairing, Site
from foldline.values.messages import Message, Part, ToolCall, ToolResult

WRITES = ("write", "create", "save")
EDITS = ("edit", "replace", "patch", "insert", "update", "delete", "move", "rename")
READS = ("read", "view", "cat", "open", "show", "ls", "list", "glob", "grep", "search", "find")
CHANGES = ("created", "written", "edited", "deleted")

_PATCHED = lazy_pattern(
    r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,300})$", re.MULTILINE
)
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

CONTENT: Final = ("content", "contents", "file_text")
BESIDE: Final = frozenset((*PATH_KEYS, *CONTENT, "description", "explanation", "overwrite"))
"""Arguments of the text of a file, and all that a call has that writes a whole one."""

EDIT_LISTS: Final = ("edits", "changes", "files", "operations")
EDIT_TEXTS: Final = (*CONTENT, "text", *EDITED)
"""Arguments that hold several edits, and those of one edit for its text."""

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

REFUSED_LINES, REFUSED, REPORTED = 5, 400, 2_000
"""Lines and characters of a refusal, and of the beginning of a report in which one is named."""

FILES: Final = 50
"""Entries of lists in the arguments of a call in which the path of a file is looked for."""


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
            for path, operation in file_operations(call, arguments_of(call)):
                times = found.pop(path).times + 1 if path in found else 1
                found[path] = FileFact(path, operation, position, times)
    return list(reversed(found.values()))


def changes(
    messages: Sequence[Message], pairing: Pairing, positions: Iterable[int]
) -> Iterator[FileFact]:
    """Yield the calls at some positions that created, wrote, edited or deleted a file."""
    for position in positions:
        for place, call in enumerate(messages[position].parts):
            if not isinstance(call, ToolCall):
                continue
            arguments = arguments_of(call)
            site = pairing.answers.get(Site(position, place))
            answer = messages[site.message].parts[site.part] if site else None
            for path, operation in _find_changes(call, arguments, answer):
                yield FileFact(path, operation, position, 1)


def _find_changes(
    call: ToolCall, arguments: Any, answer: Part | None
) -> Iterator[tuple[str, str]]:
    """Yield the files that a call changed, with what it did to each."""
    named = [one for one in file_operations(call, arguments) if one[1] in CHANGES]
    folder = arguments.get("workdir") if isinstance(arguments, dict) else ""
    command = command_of(arguments)
    by_shell = [*changed_files(command, folder if isinstance(folder, str) else "")]
    if not (named or by_shell):
        named = list(_find_open_file(call, answer))
    if not (named or by_shell) or changes_nothing(arguments, answer):
        return
    yield from named
    kept = isinstance(answer, ToolResult) and _NOT_REMOVED.search(answer.text) is not None
    yield from (one for one in by_shell if not (kept and one[1] == "deleted"))


def _find_open_file(call: ToolCall, answer: Part | None) -> Iterator[tuple[str, str]]:
    """Yield the file that an editor had open when it changed something, with what it did."""
    if not isinstance(answer, ToolResult) or "[File: " not in answer.text[:REPORTED]:
        return
    window = _WINDOW.match(answer.text)
    is_text = not call.arguments.lstrip().startswith("{")
    done = _EDITOR.fullmatch(call.name) or (_EDITING.match(call.arguments) if is_text else None)
    if window and done:
        yield window[1], "created" if done[0] in ("create", "create_file") else "edited"


def written_whole(call: ToolCall, arguments: Any, result: Part | None) -> str:
    """Return the path of the file that a call wrote whole for sure, "" where it wrote none."""
    if not isinstance(arguments, dict) or not _WHOLE.fullmatch(call.name):
        return ""
    others = {name: value for name, value in arguments.items() if name not in BESIDE}
    texts = [name for name in CONTENT if isinstance(arguments.get(name), str)]
    path = path_argument(arguments)
    if not path or len(texts) != 1 or others not in ({}, {"command": "create"}):
        return ""
    if not isinstance(result, ToolResult) or changes_nothing(arguments, result):
        return ""
    report = result.text[:REFUSED]
    return path if _DONE.search(report) or posixpath.basename(path) in report else ""


def changes_nothing(arguments: Any, answer: Part | None) -> bool:
    """Return True if the result of an edit says that nothing was changed."""
    if not isinstance(answer, ToolResult):
        return False
    names_file = isinstance(arguments, dict) and any(map(arguments.get, PATH_KEYS))
    refusal = brief_refusal(answer.text)
    if command_of(arguments) and not names_file:
        # It may print such words, and of one that failed the part that edits may have run.
        return bool(refusal) and (answer.is_error or refusal != answer.text)
    return bool(refusal) or answer.is_error or is_unchanged(answer.text)


def file_operations(call: ToolCall, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files that the arguments of a call name, with what its tool does to each."""
    if isinstance(value, dict):
        path = path_argument(value)
        if paths := [path] if path else _nested_paths(value):
            yield from ((path, operation(call.name, value)) for path in paths)
            return
    if " File: " not in call.arguments:
        return
    # A patch in a script is quoted once more: its line feeds and the end of its last line.
    earlier = ""
    for verb, path in _PATCHED.findall(call.arguments.replace("\\n", "\n")[:200_000]):
        path = path.strip().strip(" \\")
        if verb == "Move to" and earlier:
            yield earlier, "deleted"
        yield path, {"Add File": "created", "Delete File": "deleted"}.get(verb, "edited")
        earlier = path


def path_argument(arguments: Any) -> str:
    """Return the path of a file among some arguments, "" where there is none."""
    for key in PATH_KEYS if isinstance(arguments, dict) else ():
        path = arguments.get(key)
        if isinstance(path, str) and 0 < len(path) <= 300 and "\n" not in path:
            return path
    return ""


def _nested_paths(arguments: dict[str, Any]) -> list[str]:
    """Return the paths in lists of edits among the arguments of a call."""
    lists = (arguments.get(name) for name in EDIT_LISTS)
    edits = chain.from_iterable(value for value in lists if isinstance(value, list))
    paths = (
        path_argument(edit)
        for edit in islice(edits, FILES)
        if isinstance(edit, dict) and not edit.keys().isdisjoint(EDIT_TEXTS)
    )
    return list(dict.fromkeys(filter(None, paths)))


def operation(tool: str, arguments: dict[str, Any]) -> str:
    """Name what a tool does to a file, from its name or its command argument."""
    command = arguments.get("command")
    name = f"{tool} {command}" if isinstance(command, str) and len(command) < 40 else tool
    name = name.lower()
    for word, verbs in (("edited", EDITS), ("written", WRITES), ("read", READS)):
        if any(verb in name for verb in verbs):
            return word
    # One fact is one line: a line feed in a name could pass for a heading or a handle.
    return " ".join(tool[:80].split())


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
