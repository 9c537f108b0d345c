"""Shell commands of calls: what they run, whether they only show something, how they end."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from foldline.lazy import lazy_pattern

COMMANDS: Final = ("command", "cmd")
"""Arguments that are commands of a shell."""

SCRIPTS: Final = ("input", "code", "script")
"""Arguments that are scripts in which commands may be given to a tool."""

EDITOR: Final = ("create", "view", "str_replace", "insert", "delete", "rename", "edit")
"""What stands in place of a command where an editor is meant."""

SCRIPT: Final = 40_000
"""Characters of a script in which commands are looked for."""

HEREDOCS: Final = 20
"""How many texts are looked for that one command feeds to programs."""

KEYED: Final = 2_000
"""Characters up to which commands are compared by what they run; longer ones as they are."""

_SHOW: Final = (
    r"(?:cat|head|tail|sed -n|nl|less|ls|find|rg|grep|wc|git (?:diff|show|log|grep|blame)) "
    r"[^|;&<>\n]{0,2000}(?:2>(?:&1|\s?[^\s|;&<>]{1,200}) *)?"
)
_FILTER: Final = (
    r"\| *(?:head|tail|grep|rg|sort|uniq|wc|cut|sed|awk|cat|nl|tr|jq|column|less)\b"
    r"[^|;&<>\n]{0,2000}(?:2>&1 *)?"
)
_SHOWS = lazy_pattern(
    rf"(?:cd \S{{1,300}} && )?{_SHOW}(?:{_FILTER})*(?:(?:;|&&|\n)\s*{_SHOW}(?:{_FILTER})*)*\Z"
)
_INNER_COMMAND = lazy_pattern(r"\"?\b(?:cmd|command)\"?: ?(\"(?:[^\"\\\n]|\\.){1,20000}\")")
_HEREDOC = lazy_pattern(r"(?<!<)<<(?!<)[-~]?[ \t]{0,4}([\"']?)(\w{1,40})\1")
_QUOTED = lazy_pattern(
    r"(?<!\S)#[^\n]*|'[^']*+'|\"(?:[^\"\\]|(?s:\\.))*+\"|(?s:\\.)"
    r"|\$\(\([^()\n]{0,200}\)\)|\[\[ [^\]\n]{0,200}\]\]"
)
_SHELL_OPTION = lazy_pattern("-[a-z]{0,4}c")
_CHAIN = lazy_pattern(r"[|;\n]|(?<![&>])&(?![&>])")
_RUN_BY = lazy_pattern(
    r"(?:^|(?<=&& )|(?<=; ))"
    r"(?:(?:time|nice|timeout (?:-k \S{1,9} |-\S{1,20} )?\d{1,6}[smhd]?) +)+"
)
_MESSAGE = lazy_pattern(r" (?:-a?m|--message)[ =]?_++")
_CUT_BY = lazy_pattern(
    r"(?:(?:\|&?\s*+(?:tail|head|cat|less|tee)\b[^|;&<>()`\n]*+|"
    r"\d?>&\d|[\d&]?>>?\s?[^\s|;&<>()`]{1,200}+)\s*+)++"
)


def command_of(arguments: Any) -> str:
    """
    Return the shell command among the arguments of a call, "" where it runs none.

    That may be several ones of a script.
    """
    if not isinstance(arguments, Mapping):
        return ""
    given = next((arguments[key] for key in COMMANDS if arguments.get(key)), None)
    if given is None:
        scripts = (arguments[key] for key in SCRIPTS if isinstance(arguments.get(key), str))
        return next(filter(None, map(script_commands, scripts)), "")
    command = join_command(given).strip()
    return "" if command in EDITOR else command


def join_command(given: Any) -> str:
    """Return a command as a shell has it, "" where none is given; lists may name the shell."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return ""
    is_shell = len(given) > 1 and _SHELL_OPTION.fullmatch(given[-2]) is not None
    return given[-1] if is_shell else shlex.join(given)


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

    The message of a commit is not part of it: who tries again may say it in other words. What
    selects lines of an output is part of what runs: it decides what a failure is.
    """
    if len(command) > KEYED:
        return command
    # A match in the masked command stands at the same place of the command.
    masked = mask_quoted(command)
    # Each run of cuts is looked at once; only the one at the end counts.
    cuts = [cut for cut in _CUT_BY.finditer(masked) if cut.end() == len(masked)]
    end = cuts[0].start() if cuts else len(command)
    left_out = [*_RUN_BY.finditer(masked, 0, end)]
    if "git commit" in masked:
        left_out = sorted((*left_out, *_MESSAGE.finditer(masked, 0, end)), key=re.Match.start)
    pieces, start = [], 0
    for piece in left_out:
        pieces.append(command[start : piece.start()])
        start = piece.end()
    return "".join((*pieces, command[start:end])).strip() or command


def heredocs(command: str) -> Iterator[tuple[int, int]]:
    """Yield where each text begins and ends that a command feeds to a program."""
    place = 0
    for _ in range(HEREDOCS if "<<" in command else 0):
        found = _HEREDOC.search(command, place)
        start = command.find("\n", found.end()) if found else -1
        if found is None or start < 0:
            return
        end = command.find(f"\n{found[2]}", start)
        place = end if end >= 0 else found.end()  # Without an end it is none.
        if end >= 0:
            yield start, end


def ends_itself(command: str) -> bool:
    """Return True if the exit code of a command is that of all that it runs."""
    return len(command) <= KEYED and _CHAIN.search(mask_quoted(command)) is None


def mask_quoted(command: str) -> str:
    """Return a command with what is quoted in it as underscores, no comments; positions stay."""
    return _QUOTED.sub(lambda found: (" " if found[0][0] == "#" else "_") * len(found[0]), command)
