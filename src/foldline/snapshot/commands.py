"""What a shell command runs, shows and changes."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import dropwhile, pairwise
from typing import Any, Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.phrases import ENGLISH, Phrases

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

SHORT_HEREDOC: Final = 60
"""Characters of the longest such text that is written with its command."""

PARTED: Final = 20_000
"""Characters of the longest command whose lines are parted."""

KEYED: Final = 2_000
"""Characters up to which commands are compared by what they run; longer ones as they are."""

_SHOW: Final = (
    r"(?:cat|head|tail|sed -n|nl|less|ls|find(?![^|;&<>\n]{0,2000} -(?:exec|ok|delete|fprint))"
    r"|rg|grep|wc|git (?:diff|show|log|grep|blame)) "
    r"[^|;&<>\n]{0,2000}(?:2>(?:&1|\s?[^\s|;&<>]{1,200}) *)?"
)
_FILTER: Final = (
    r"\| *(?:head|tail|grep|rg|sort|uniq|wc|cut|sed|awk|cat|nl|tr|jq|column|less)\b"
    r"[^|;&<>\n]{0,2000}(?:2>&1 *)?"
)
_SHOWS = lazy_pattern(
    rf"(?:cd \S{{1,300}} && )?{_SHOW}(?:{_FILTER})*(?:(?:;|&&|\n)\s*{_SHOW}(?:{_FILTER})*)*\Z"
)
_UNSURE = lazy_pattern(
    r"\$\(|`|\[\[|\b[gmn]?awk\b|\bfind\b|\bsed (?!-n (['\"]?)[\d,$p;]{1,60}p\1(?:\s|\Z))"
)
"""What may act in what is quoted, such as the script of another program."""

_INNER_COMMAND = lazy_pattern(r"\"?\b(?:cmd|command)\"?: ?(\"(?:[^\"\\\n]|\\.){1,20000}\")")
_HEREDOC = lazy_pattern(r"(?<!<)<<(?!<)[-~]?[ \t]{0,4}([\"']?)(\w{1,40})\1")
_LINE_END = lazy_pattern(
    r"(?<=[^\s\\|&;({])(?<![\s;]do)(?<![\s;]then)(?<![\s;]else)(?<![\s;]in)"
    r"[ \t]*\n(?!\s*(?:[|&;)]|\Z))"
)
"""Where a line of a command ends with nothing that a shell goes on with."""

_QUOTED = lazy_pattern(
    r"(?<!\S)#[^\n]*|'[^']*+'|\"(?:[^\"\\]|(?s:\\.))*+\"|(?s:\\.)"
    r"|\$\(\([^()\n]{0,200}\)\)|\[\[ [^\]\n]{0,200}\]\]"
)
_SHELL_OPTION = lazy_pattern("-[a-z]{0,4}c")
_CHAIN = lazy_pattern(r"[|;\n]|(?<![&>])&(?![&>])")
_RUN_BY = lazy_pattern(
    r"(?:^|(?<=&& )|(?<=; ))"
    r"(?:(?:time|nice|timeout (?:-k \S{1,9} |-\S{1,20} )?\d{1,6}[smhd]?"
    r"|python3? -m(?= pytest\b)) +)+"
)
_RUNNERS: Final = ("time", "nice", "pytest")
"""One of these stands in everything that `_RUN_BY` finds."""

_PYTEST = lazy_pattern(r"(?:^|&& |; )(?:python3? -m )?pytest\b[^|;&\n]*")
_VERBOSITY = lazy_pattern(r" -(?:[qvsx]{1,4}|-tb=\w{1,9}|-no-header)(?=\s|\Z)")
"""How much pytest prints, which is no part of what it runs."""

_MESSAGE = lazy_pattern(r" (?:-[a-zA-Z]{0,8}m|--message)[ =]?(_++)")
_COMMIT = lazy_pattern(r"\bgit (?:-[cC] \S{1,300} ){0,4}commit\b[^;&|\n]*")
_FROM_INPUT = lazy_pattern(r" (?:-F ?|--file[= ])-(?=\s|\Z)")
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
    import shlex  # few tools take a command as a list

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
    """Return True if a shell command only shows something, whatever it looks for."""
    if _SHOWS.match(command):
        return True
    if len(command) > KEYED or _UNSURE.search(command):
        return False
    return _SHOWS.match(mask_quoted(command)) is not None and not any(changed_files(command))


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
    is_run_by = any(map(masked.__contains__, _RUNNERS))
    left_out = [*_RUN_BY.finditer(masked, 0, end)] if is_run_by else []
    if "git commit" in masked:
        left_out += _MESSAGE.finditer(masked, 0, end)
    if "pytest" in masked:
        for tests in _PYTEST.finditer(masked, 0, end):
            left_out += _VERBOSITY.finditer(masked, *tests.span())
    left_out.sort(key=re.Match.start)
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


def commit_message(command: str) -> str:
    """Return the message of a commit that a command makes, "" where it gives none."""
    if "commit" not in command or len(command) > PARTED:
        return ""
    masked, fed = mask_quoted(command), list(heredocs(command))
    commits = (one.span() for one in _COMMIT.finditer(masked))
    begin, end = next((s for s in commits if not any(a <= s[0] < b for a, b in fed)), (0, 0))
    given = [command[slice(*one.span(1))][1:-1] for one in _MESSAGE.finditer(masked, begin, end)]
    if _FROM_INPUT.search(masked, begin, end) or "".join(given).startswith("$(cat "):
        given = [command[start:stop].strip() for start, stop in fed if start > begin][:1]
    return "\n\n".join(text for text in given if not text.startswith("$"))


def brief_command(command: str, phrases: Phrases = ENGLISH) -> str:
    """
    Write a command with the length of the texts that it feeds to programs in their place.

    A line ends with what parts it from the next one where both stand in one line.
    """
    pieces: list[str] = []
    place = 0
    for start, end in heredocs(command):
        lines = phrases.lines.replace("{count}", f"{command.count(chr(10), start, end):,}")
        fed = command[start:end] if end - start <= SHORT_HEREDOC else f" … {lines}"
        pieces += (_part_lines(command[place:start]), fed)
        place = end
    return "".join((*pieces, _part_lines(command[place:])))


def _part_lines(command: str) -> str:
    if "\n" not in command or len(command) > PARTED:
        return command
    places = [found.start() for found in _LINE_END.finditer(mask_quoted(command))]
    lines = (command[start:end] for start, end in pairwise((0, *places, len(command))))
    return ";".join(lines).replace("\\\n", " ")


def ends_itself(command: str) -> bool:
    """Return True if the exit code of a command is that of all that it runs."""
    return len(command) <= KEYED and _CHAIN.search(mask_quoted(command)) is None


def mask_quoted(command: str) -> str:
    """Return a command with what is quoted in it as underscores, no comments; positions stay."""
    return _QUOTED.sub(lambda found: (" " if found[0][0] == "#" else "_") * len(found[0]), command)


SHOWING: Final = ("cat", "head", "tail", "nl", "less", "sed", "bat")
"""Programs that print a file."""

_NOT_PLAIN = lazy_pattern(r"[|;&<>`$(*?\n]")
_FOLDER = lazy_pattern(r"cd (\S{1,300}) *(?:&&|;) *")


def shown_files(command: str, folder: str = "") -> Iterator[str]:
    """Yield the files that a plain command prints, such as ``cd src && cat a.py``."""
    moved = _FOLDER.match(command)
    if moved:
        folder = posixpath.join(folder, _bare(moved[1]))
    rest = command[moved.end() :] if moved else command
    program = next(iter(rest[:KEYED].split(maxsplit=1)), "").strip(_QUOTES)
    if program not in SHOWING or len(command) > KEYED or _NOT_PLAIN.search(rest):
        return
    import shlex  # only who reads the commands of a shell needs it

    try:
        words = shlex.split(rest)[1:]
    except ValueError:
        return
    if any(word.startswith("-i") for word in words):
        return
    for word in words[-1:] if program in ("sed", "head", "tail") else words[:MOST_FILES]:
        if not word.startswith("-") and not word.isdigit() and (path := _path(word, folder)):
            yield path


LONGEST: Final = 20_000
"""Characters of a command, without what it feeds to programs, in which files are looked for."""

MOST_FILES, LONGEST_PATH = 50, 1_000
"""Maximum number of files of one call, and characters of a path; more are ignored."""

_MAY_CHANGE = lazy_pattern(r">(?![&=(]|>?\s?/dev/)|\b(?:tee|rm|mv|cp|touch)\b")
_EDITORS = lazy_pattern(r"\b(?:sed|perl)\b")
_MAY_ACT = lazy_pattern(r">|\b(?:cd|sed|perl|tee|rm|mv|cp|touch)\b")
"""What a command has that may change a file, or edit one, and a simple one that does or moves."""

_SIMPLE_COMMAND = lazy_pattern(r"(?:[^;|&\n]|&(?=>)|(?<=>)&)+")
_WORD = lazy_pattern(r"\S+")
_REDIRECTED = lazy_pattern(r"(?<![\d<>=-])(?:&?>>?|1>>?)[ \t]*([^\s;|&<>()]+)")
_IN_PLACE_OPTION: Final = r"(?:-(?![IM])[a-zA-Z0-9]*i|--in-place)"
_IN_PLACE, _EDITS = lazy_pattern(_IN_PLACE_OPTION), lazy_pattern(rf"\s{_IN_PLACE_OPTION}")
_SCRIPTED = lazy_pattern(r"-[a-zA-Z0-9]*[eEf]|--expression|--file")
"""Options of programs that edit, also among others, and those before a script of theirs."""

_NOT_A_PATH = lazy_pattern(
    "/dev/|-|.*(?:[*?$`{}()<>|\x00-\x1f\x7f\ud800-\udfff]|://)|.*/\\Z", re.DOTALL
)
_BEFORE: Final = frozenset(("git", "sudo", "then", "do", "else", "time", "!", "{"))
"""What may stand before a program that changes files, or is named as git's own."""

_QUOTES: Final = "'\""

_UNKNOWN: Final = "$"
"""Stands for a folder that is not named: no path has it."""


def changed_files(command: str, folder: str = "") -> Iterator[tuple[str, str]]:
    """
    Yield the files that a shell command changes, with what it does to each.

    Scripts and programs may change further files.

    Args:
        command: The command.
        folder: Where it is run.

    Returns:
        Paths, relative ones below the folder that the command changes to; what is done to each is
        "written", "edited" or "deleted".
    """
    may_edit = _EDITORS.search(command) and _EDITS.search(command)
    if not (may_edit or _MAY_CHANGE.search(command)):
        return
    command = _without_heredocs(command)[:LONGEST]
    masked = mask_quoted(command)
    bare = _REDIRECTED.sub(lambda target: " " * len(target[0]), masked)
    left = MOST_FILES
    for simple in _SIMPLE_COMMAND.finditer(masked):
        if not _MAY_ACT.search(masked, *simple.span()):
            continue
        words = [command[slice(*word.span())] for word in _WORD.finditer(bare, *simple.span())]
        if words[:1] == ["cd"]:
            folder = posixpath.join(folder, _bare(words[1]) if len(words) == 2 else _UNKNOWN)
            continue
        targets = _REDIRECTED.finditer(masked, *simple.span())
        found = [
            (command[slice(*target.span(1))], "edited" if ">>" in target[0] else "written")
            for target in targets
        ]
        for word, done in (*found, *_operands(words)):
            if left and (path := _path(word, folder)):
                left -= 1
                yield path, done


def _without_heredocs(command: str) -> str:
    pieces, place = [], 0
    for start, end in heredocs(command):
        pieces.append(command[place:start])
        place = end
    return "".join((*pieces, command[place:]))


def _operands(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the files among the operands of a program that changes them."""
    program, *rest = [*dropwhile(_BEFORE.__contains__, words), ""]
    options = [word for word in rest if word.startswith("-")]
    operands = [word for word in rest if not word.startswith("-") and word.strip(_QUOTES)]
    if program == "rm" and "--cached" not in options:
        yield from ((path, "deleted") for path in operands)
    elif program in ("touch", "tee"):
        done = "edited" if "-a" in options else "written"
        yield from ((path, done) for path in operands)
    elif program in ("mv", "cp") and len(operands) > 1:
        if program == "mv":
            yield from ((path, "deleted") for path in operands[:-1])
        yield operands[-1], "written"
    elif program in ("sed", "perl") and any(map(_IN_PLACE.match, options)):
        scripts = {b for a, b in pairwise(rest) if _SCRIPTED.fullmatch(a)}
        is_given = any(option.startswith(("--expression=", "--file=")) for option in options)
        # The first is the script where no option gives one.
        edited = operands if scripts or is_given else operands[1:]
        yield from ((path, "edited") for path in edited if path not in scripts)


def _path(word: str, folder: str) -> str:
    """Return the path that a word of a command names, "" where it names none for sure."""
    path = posixpath.join(folder, _bare(word))
    if not _bare(word) or len(path) > LONGEST_PATH or _NOT_A_PATH.match(path):
        return ""
    return posixpath.normpath(path)


def _bare(word: str) -> str:
    return word.strip(_QUOTES)
