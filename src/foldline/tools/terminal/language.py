"""
The command language of the terminal: words, pipes and lists, parsed without a shell.

    list     := pipeline ( ("&&" | "||" | ";") pipeline )* [";"]
    pipeline := command ( "|" command )*
    command  := word+ redirect*
    redirect := "2>&1" | ">&2" | ("2>" | ">" | "&>") "/dev/null" | "<" word

Quotes and backslashes are removed once, here. Any shell expansion other than the globs ``*``,
``?`` and ``[…]`` is refused by name: no command runs that would mean something else in a shell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from foldline.frozen import frozen
from foldline.tools.terminal.refusal import Refused, unsafe, visible

LONGEST: Final = 8_192
"""The maximum length of a command line in characters."""


@frozen
class ShellWord:
    """
    A word: its text, and which characters are not quoted.

    ``live[i]`` is True if character ``i`` was neither quoted nor escaped.
    """

    text: str
    live: tuple[bool, ...]

    @property
    def has_glob(self) -> bool:
        """Return True if it contains an unquoted ``*``, ``?`` or ``[``."""
        return any(on and char in "*?[" for char, on in zip(self.text, self.live, strict=True))


Token: TypeAlias = ShellWord | str
"""A word, or an operator: a pipe, a separator, or a redirection without its target."""

OPERATORS: Final = re.compile(r"&&|\|\||\||;|&>>?|[0-9]*(?:>>|>&|>|<)")
"""The supported operators; a digit belongs to a redirection only as a separate word."""

REFUSED: Final = (
    ("|&", "the operator |&", "Write 2>&1 | instead."),
    (";;", "a case", ""),
    (";&", "a case", ""),
    ("<<", "a here-document or here-string", ""),
    ("<(", "process substitution", ""),
    (">(", "process substitution", ""),
    ("<>", "the redirection <>", ""),
    ("<&", "the redirection of a descriptor", ""),
    (">|", "the redirection >|", ""),
)
"""Operators that are refused, with their names."""

LOOP: Final = re.compile(r"(for|while|until|if|case|select|function|coproc)[ \t]")

HOME: Final = re.compile(r"cd[ \t]+~/?(?=[ \t]*(?:[;|&]|$))")
"""The only supported ``~``: the home of a terminal is its workspace."""

LIVE: Final = {
    "`": ("command substitution", "Run the inner command first, and insert its output."),
    "(": ("a subshell or function", "Quote the parenthesis if it is text."),
    ")": ("a subshell or function", "Quote the parenthesis if it is text."),
}


def tokenize(command: str) -> list[Token]:
    """
    Split a command line into tokens.

    Args:
        command: The text of the model.

    Returns:
        Words and operators, in order.

    Raises:
        Refused: It uses unsupported syntax.
    """
    if len(command) > LONGEST:
        raise Refused(f"The command has {len(command):,} characters; the limit is {LONGEST:,}.")
    text = command.strip(" \t\r\n")
    for char in text:
        if unsafe(char) and char not in "\t\n":
            raise Refused(f"The character {visible(char)} is not allowed in a command.")
    if LOOP.match(text):
        raise _refuse("a loop or condition", "Use xargs or find -exec, or several lines.")
    return list(_Reader(text).all())


class _Reader:
    """A tokenizer with one pass over the text; linear, and without recursion."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def all(self) -> Iterator[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t":
                self.at += 1
            elif found := self._operator():
                yield found
            elif match := HOME.match(self.text, self.at):
                self.at = match.end()
                yield ShellWord("cd", (True, True))
            else:
                yield self._word()

    def _operator(self) -> str | None:
        for sign, name, hint in REFUSED:
            if self.text.startswith(sign, self.at):
                raise _refuse(name, hint)
        match = OPERATORS.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        following = self.text[self.at : self.at + 1]
        if match[0].endswith((">", "<")) and following in {"(", "<"}:
            raise _refuse("process substitution")
        return match[0]

    def _word(self) -> ShellWord:
        chars: list[str] = []
        live: list[bool] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t|;&<>":
                break
            piece, on = self._piece(char, bool(chars))
            chars += piece
            live += [on] * len(piece)
        if self.text.startswith("&", self.at) and not self.text.startswith(("&&", "&>"), self.at):
            raise _refuse("a command in the background (&)", "Quote & if it is text.")
        word = ShellWord("".join(chars), tuple(live))
        _check_expansions(word)
        return word

    def _piece(self, char: str, inside: bool) -> tuple[str, bool]:
        """Return the next characters of a word, and True if they are unquoted."""
        if char == "'":
            return self._single(), False
        if char == '"':
            return self._double(), False
        if char == "\\":
            return self._read_escape(), False
        self.at += 1
        if char == "\n":
            raise _refuse("a line break", "Use && or ; between commands.")
        if char == "#" and not inside:
            raise _refuse("a comment", "Omit it, or quote the #.")
        if char == "$":
            self._dollar("'\"({_@*#?$!-")
        if char in LIVE:
            raise _refuse(*LIVE[char])
        if char != " " and unicodedata.category(char) == "Zs":
            raise _refuse(f"the unusual blank {visible(ascii(char))}", "Use a space.")
        return char, True

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise _refuse("an unclosed single quote")
        found = self.text[self.at + 1 : end]
        self.at = end + 1
        return found

    def _double(self) -> str:
        out: list[str] = []
        self.at += 1
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return "".join(out)
            if char == "`":
                raise _refuse(*LIVE["`"])
            if char == "$":
                self._dollar("({_@*#?$!-")
            if char == "\\" and self.text[self.at : self.at + 1] in {"$", "`", '"', "\\", "\n"}:
                if self.text[self.at] == "\n":
                    raise _refuse("a backslash at the end of a line")
                char = self.text[self.at]
                self.at += 1
            out.append(char)
        raise _refuse("an unclosed double quote")

    def _read_escape(self) -> str:
        found = self.text[self.at + 1 : self.at + 2]
        if found in {"", "\n"}:
            raise _refuse("a backslash at the end of a line")
        self.at += 2
        return found

    def _dollar(self, begins: str) -> None:
        """Refuse a ``$`` that a shell would expand; before a blank or a quote it is text."""
        following = self.text[self.at : self.at + 1]
        if following in {"(", "`"}:
            raise _refuse("command substitution", LIVE["`"][1])
        if following in {"'", '"'} and following in begins:
            raise _refuse("the quoting $'…' or $\"…\"", "Use plain quotes.")
        if following and (following in begins or following.isalnum()):
            hint = "Nothing is expanded: write its value, or quote it with '…'."
            raise _refuse("a variable", hint)


def _check_expansions(word: ShellWord) -> None:
    """Refuse expansions of a full word: ``~`` and brace lists."""
    text, live = word.text, word.live
    starts = {0} | {i + 1 for i, char in enumerate(text) if char in "=:" and live[i]}
    if any(i < len(text) and text[i] == "~" and live[i] for i in starts):
        raise _refuse("a home directory (~)", "Write a path in the workspace, or quote ~.")
    unquoted = "".join(char if on else "\0" for char, on in zip(text, live, strict=True))
    opened, closed = unquoted.find("{"), unquoted.rfind("}")
    inner = unquoted[opened:closed] if 0 <= opened < closed else ""
    if "," in inner or ".." in inner:
        raise _refuse("a brace list", "Write the words out, or quote them.")


def _refuse(name: str, hint: str = "") -> Refused:
    return Refused(f"This terminal refuses {name}.", hint)


# --- commands, pipelines and lists ---------------------------------------------------------

Sink: TypeAlias = Literal["out", "err", "null"]
Joint: TypeAlias = Literal["&&", "||", ";"]

MOST_COMMANDS: Final = 20
MOST_PIPELINES: Final = 10
"""Longer lines are refused outright, never submitted for approval."""

ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[.*\])?\+?=")


@frozen
class Command:
    """
    One command; ``out`` and ``err`` are the targets of its streams, ``source`` its input file.

    "out" is the next command or the output of the line, "err" its errors, "null" is discarded.
    """

    words: tuple[ShellWord, ...]
    out: Sink = "out"
    err: Sink = "err"
    source: ShellWord | None = None


@frozen
class Pipeline:
    """Commands joined by pipes, and the operator that joins it to the previous pipeline."""

    commands: tuple[Command, ...]
    joint: Joint = ";"


def parse_line(command: str) -> tuple[Pipeline, ...]:
    """
    Parse a command line.

    Args:
        command: The text of the model.

    Raises:
        Refused: It uses unsupported syntax, or is too long.
    """
    found = tokenize(command)
    pipelines: list[Pipeline] = []
    joint: Joint = ";"
    part: list[Token] = []
    for index, item in enumerate(found):
        if isinstance(item, str) and item in {"&&", "||", ";"}:
            pipelines.append(_pipeline(part, joint, item))
            joint, part = item, []  # type: ignore[assignment]  # one of three
            if item == ";" and index == len(found) - 1:
                return _check_bounds(pipelines)
        else:
            part.append(item)
    pipelines.append(_pipeline(part, joint, "the end"))
    return _check_bounds(pipelines)


def _check_bounds(pipelines: Sequence[Pipeline]) -> tuple[Pipeline, ...]:
    commands = sum(len(pipeline.commands) for pipeline in pipelines)
    if len(pipelines) > MOST_PIPELINES or commands > MOST_COMMANDS:
        found = f"{commands} commands in {len(pipelines)} pipelines"
        why = f"The line has {found}; the limit is {MOST_COMMANDS} in {MOST_PIPELINES}."
        raise Refused(why, "Write several lines.")
    return tuple(pipelines)


def _pipeline(part: Sequence[Token], joint: Joint, until: str) -> Pipeline:
    commands, current = [], list[Token]()
    for item in [*part, "|"]:
        if item == "|":
            if not current:
                raise Refused(f"A command is missing before {until if not part else '|'}.")
            commands.append(_command(current))
            current = []
        else:
            current.append(item)
    if any(command.source is not None for command in commands[1:]):
        raise Refused("Only the first command of a pipeline may read a file with <.")
    return Pipeline(tuple(commands), joint)


def _command(part: Sequence[Token]) -> Command:
    words: list[ShellWord] = []
    sinks: dict[str, Sink] = {"out": "out", "err": "err"}
    source = None
    left = iter(part)
    for item in left:
        if isinstance(item, ShellWord):
            words.append(item)
            continue
        target = next(left, None)
        if not isinstance(target, ShellWord):
            raise Refused(f"The target of {item} is missing.")
        if item in {"<", "0<"}:
            source = target
        else:
            _redirect(item, target, sinks)
    if not words:
        raise Refused("A redirection without a command is refused.")
    first = words[0]
    if (name := ASSIGNMENT.match(first.text)) and all(first.live[: name.end()]):
        raise Refused("This terminal refuses an assignment.", "No variables are kept or passed.")
    return Command(tuple(words), sinks["out"], sinks["err"], source)


def _redirect(sign: str, target: ShellWord, sinks: dict[str, Sink]) -> None:
    """Apply a redirection to the streams, in the order of the line."""
    match sign, target.text:
        case "2>" | "2>>", "/dev/null":
            sinks["err"] = "null"
        case ">" | ">>" | "1>" | "1>>", "/dev/null":
            sinks["out"] = "null"
        case "&>" | "&>>" | ">&", "/dev/null":
            sinks["out"] = sinks["err"] = "null"
        case "2>&", "1":
            sinks["err"] = sinks["out"]
        case ">&" | "1>&", "2":
            sinks["out"] = sinks["err"]
        case ">&" | "1>&" | "2>&", same if same in {"1", "2"}:
            pass
        case _:
            signs = "2>/dev/null, >/dev/null, &>/dev/null, 2>&1 and >&2"
            hint = f"Only {signs} are supported; use other tools to write files."
            raise _refuse("a redirection to a file or descriptor", hint)
