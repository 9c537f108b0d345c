"""Shell commands of calls: what they run, whether they only show something, how they end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from foldline.core.retention_settings import PATH_KEYS
from foldline.lazy_patterns import lazy_pattern

COMMANDS: Final = ("command", "cmd")
"""Arguments that are commands of a shell."""

SCRIPT: Final = 40_000
"""Characters of a script in which commands are looked for."""

KEYED: Final = 2_000
"""Characters up to which commands are compared by what they run; longer ones as they are."""

_SHOW: Final = (
    r"(?:cat|head|tail|sed -n|nl|less|ls|find|rg|grep|wc|git (?:diff|show|log|grep|blame)) "
    r"[^|;&<>]{0,2000}"
)
_SHOWS = lazy_pattern(rf"(?:cd \S{{1,300}} && )?{_SHOW}(?:(?:;|&&) *{_SHOW})*(?:\||2>|$)")
_INNER_COMMAND = lazy_pattern(r"\"?\b(?:cmd|command)\"?: ?(\"(?:[^\"\\\n]|\\.){1,20000}\")")
_QUOTED = lazy_pattern(r"'[^']*+'|\"(?:[^\"\\]|\\.)*+\"|\\.")
_CHAIN = lazy_pattern(r"[|;\n]|(?<![&>])&(?![&>])")
_RUN_BY = lazy_pattern(
    r"(?:^|(?<=&& )|(?<=; ))(?:(?:time|nice|timeout (?:-k \S{1,9} |-\S{1,20} )?\d{1,6}[smhd]?) +)+"
)
_CUT_BY = lazy_pattern(
    r"(?:(?:\|&?\s*+(?:tail|head|cat|less|tee)\b[^|;&<>\n]*+|"
    r"\d?>&\d|[\d&]?>>?\s?[^\s|;&<>]{1,200}+)\s*+)++\Z"
)


def command_of(arguments: Any) -> str:
    """
    Return the shell command among the arguments of a call, "" where it runs none.

    That may be several ones of a script. Beside a path a command is that of an editor.
    """
    if not isinstance(arguments, Mapping) or any(key in arguments for key in PATH_KEYS):
        return ""
    command = arguments.get("command") or arguments.get("cmd")
    if command is None:
        scripts = (value for value in arguments.values() if isinstance(value, str))
        command = next(filter(None, map(script_commands, scripts)), "")
    if isinstance(command, list) and command:
        # What stands before it is the shell.
        command = command[-1]
    return command.strip() if isinstance(command, str) else ""


def script_commands(text: str) -> str:
    """Return the shell commands that a script gives to a tool, "" where it gives none."""
    if "exec_command(" not in text:
        return ""
    return "; ".join(_unquote(one) for one in _INNER_COMMAND.findall(text[:SCRIPT]))


def _unquote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text


def only_shows(command: str) -> bool:
    """Return True if a shell command only shows something."""
    return _SHOWS.match(command) is not None


def run_key(command: str) -> str:
    """
    Return what a command runs, without how long it may take and how much of its output is shown.

    What selects lines of an output is part of what runs: it decides what a failure is.
    """
    if len(command) > KEYED:
        return command
    # A match in the masked command stands at the same place of the command.
    masked = _mask_quoted(command)
    cut = _CUT_BY.search(masked)
    end = cut.start() if cut else len(command)
    pieces, start = [], 0
    for limit in _RUN_BY.finditer(masked, 0, end):
        pieces.append(command[start : limit.start()])
        start = limit.end()
    return "".join((*pieces, command[start:end])).strip() or command


def ends_itself(command: str) -> bool:
    """Return True if the exit code of a command is that of all that it runs."""
    return _CHAIN.search(_mask_quoted(command[:KEYED])) is None and len(command) <= KEYED


def _mask_quoted(command: str) -> str:
    return _QUOTED.sub(lambda quoted: "_" * len(quoted[0]), command)
