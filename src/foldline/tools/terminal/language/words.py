"""
The words and operators of a command line, taken apart without a shell.

Quotes and backslashes are removed once, here. What a shell would expand, other than the globs
``*``, ``?`` and ``[…]``, is refused by name: nothing is run that means something else elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from foldline.tools.terminal.refusal import Refused, unsafe, visible

LONGEST: Final = 8_192
"""The most characters of a command line."""


@dataclass(frozen=True, slots=True)
class ShellWord:
    """
    One word: its text, and the places in it that are not quoted.

    ``live[i]`` says whether character ``i`` was neither quoted nor escaped.
    """

    text: str
    live: tuple[bool, ...]

    @property
    def has_glob(self) -> bool:
        """Whether it holds an unquoted ``*``, ``?`` or ``[``."""
        return any(on and char in "*?[" for char, on in zip(self.text, self.live, strict=True))


@dataclass(frozen=True, slots=True)
class Operator:
    """A pipe, a separator, or the beginning of a redirection such as ``2>``."""

    text: str


Token: TypeAlias = ShellWord | Operator

OPERATORS: Final = re.compile(r"&&|\|\||\||;|&>>?|[0-9]*(?:>>|>&|>|<)")
"""What is understood; a digit belongs to a redirection only when it stands alone."""

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
"""The one ``~`` that is understood: the home of a terminal is its workspace."""

LIVE: Final = {
    "`": ("command substitution", "Run the inner command first, and write what it says."),
    "(": ("a subshell or function", "Quote the parenthesis if it is text."),
    ")": ("a subshell or function", "Quote the parenthesis if it is text."),
}


def tokenize(command: str) -> list[Token]:
    """
    Take a command line apart.

    Args:
        command: The text of the model.

    Returns:
        Words and operators, in order.

    Raises:
        Refused: Something in it is not understood.
    """
    if len(command) > LONGEST:
        raise Refused(f"The command has {len(command):,} characters; {LONGEST:,} are allowed.")
    text = command.strip(" \t\r\n")
    for char in text:
        if unsafe(char) and char not in "\t\n":
            raise Refused(f"The character {visible(char)} is not allowed in a command.")
    if LOOP.match(text):
        raise _not_understood("a loop or condition", "Use xargs or find -exec, or several lines.")
    return list(_Reader(text).all())


class _Reader:
    """One pass over the text; linear, and without recursion."""

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

    def _operator(self) -> Operator | None:
        for sign, name, hint in REFUSED:
            if self.text.startswith(sign, self.at):
                raise _not_understood(name, hint)
        match = OPERATORS.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        following = self.text[self.at : self.at + 1]
        if match[0].endswith((">", "<")) and following in {"(", "<"}:
            raise _not_understood("process substitution")
        return Operator(match[0])

    def _word(self) -> ShellWord:
        chars: list[str] = []
        live: list[bool] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in " \t" or char in "|;&<>":
                break
            piece, on = self._piece(char, bool(chars))
            chars += piece
            live += [on] * len(piece)
        if self.at < len(self.text) and self.text.startswith("&", self.at):
            self._ampersand()
        word = ShellWord("".join(chars), tuple(live))
        _check_expansions(word)
        return word

    def _ampersand(self) -> None:
        if not self.text.startswith(("&&", "&>"), self.at):
            raise _not_understood("a command in the background (&)", "Quote & if it is text.")

    def _piece(self, char: str, inside: bool) -> tuple[str, bool]:
        """Return the next characters of a word, and whether they are live."""
        if char == "'":
            return self._single(), False
        if char == '"':
            return self._double(), False
        if char == "\\":
            return self._read_escape(), False
        self.at += 1
        if char == "\n":
            raise _not_understood("a line break", "Use && or ; between commands.")
        if char == "#" and not inside:
            raise _not_understood("a comment", "Leave it out, or quote the #.")
        if char == "$":
            self._dollar("'\"({_@*#?$!-")
        if char in LIVE:
            raise _not_understood(*LIVE[char])
        if char != " " and unicodedata.category(char) == "Zs":
            raise _not_understood(f"the unusual blank {visible(ascii(char))}", "Use a space.")
        return char, True

    def _single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise _not_understood("a single quote that is never closed")
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
                raise _not_understood(*LIVE["`"])
            if char == "$":
                self._dollar("({_@*#?$!-")
            if char == "\\" and self.text[self.at : self.at + 1] in {"$", "`", '"', "\\", "\n"}:
                if self.text[self.at] == "\n":
                    raise _not_understood("a backslash at the end of a line")
                char = self.text[self.at]
                self.at += 1
            out.append(char)
        raise _not_understood("a double quote that is never closed")

    def _read_escape(self) -> str:
        found = self.text[self.at + 1 : self.at + 2]
        if found in {"", "\n"}:
            raise _not_understood("a backslash at the end of a line")
        self.at += 2
        return found

    def _dollar(self, begins: str) -> None:
        """Refuse a ``$`` that a shell would expand; before a blank or a quote it is text."""
        following = self.text[self.at : self.at + 1]
        if following in {"(", "`"}:
            raise _not_understood("command substitution", LIVE["`"][1])
        if following in {"'", '"'} and following in begins:
            raise _not_understood("the quoting $'…' or $\"…\"", "Use plain quotes.")
        if following and (following in begins or following.isalnum()):
            raise _not_understood(
                "a variable", "Nothing is expanded: write its value, or quote it with '…'."
            )


def _check_expansions(word: ShellWord) -> None:
    """Refuse what a shell expands in a whole word: ``~`` and brace lists."""
    text, live = word.text, word.live
    starts = {0} | {i + 1 for i, char in enumerate(text) if char in "=:" and live[i]}
    if any(i < len(text) and text[i] == "~" and live[i] for i in starts):
        raise _not_understood("a home directory (~)", "Write a path in the workspace, or quote ~.")
    unquoted = "".join(char if on else "\0" for char, on in zip(text, live, strict=True))
    opened = unquoted.find("{")
    closed = unquoted.rfind("}")
    if 0 <= opened < closed:
        inner = unquoted[opened:closed]
        if "," in inner or ".." in inner:
            raise _not_understood("a brace list", "Write the words out, or quote them.")


def _not_understood(name: str, hint: str = "") -> Refused:
    return Refused(f"This terminal refuses {name}.", hint)
