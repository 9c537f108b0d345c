"""
Sed: its script, walked command by command.

Only what prints, edits the stream, or jumps is known. Sed is told ``--sandbox`` besides, so that
it refuses by itself to run, read or write anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.programs.options import CheckedCommand, option_spec, read_arguments
from foldline.tools.terminal.refusal import Beyond, Refused, Risk, visible

SED: Final = option_spec(
    "-nErsuz -e=text -l=count --quiet --silent --expression=text --regexp-extended --separate "
    "--unbuffered --null-data --zero-terminated --line-length=count --posix --debug"
)

ALONE: Final = frozenset("pPdDnNgGhHxlqQ=Fz")
"""Commands that take nothing but, some of them, a number."""

LABELLED: Final = frozenset("btT:")
TEXT: Final = frozenset("aic")

REACHING: Final[dict[str, Risk]] = {
    "e": "execute",
    "r": "outside",
    "R": "outside",
    "w": "write",
    "W": "write",
}

_ADDRESS: Final = re.compile(r"[0-9]+(~[0-9]+)?|\$|[+~][0-9]+")
_FLAGS: Final = re.compile(r"[gpiImM0-9]*")


def check_sed(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``sed`` with scripts in its arguments.

    Raises:
        Beyond: It edits in place, reads a script from a file, or a command reaches out.
    """
    if list(words) in (["--help"], ["--version"]):
        return CheckedCommand(name, tuple(words))
    given = read_arguments(name, SED, words, place)
    scripts = given.values("-e", "--expression")
    operands = list(given.operands)
    if not scripts:
        if not operands:
            raise Refused(f"{name}: a script is missing.")
        scripts = [operands.pop(0)]
    check_script("\n".join(scripts))
    for path in operands:
        if path != "-":
            place.check(path)
    return CheckedCommand(name, ("--sandbox", *given.words(SED), "--", *given.operands))


def check_script(script: str) -> None:
    """
    Check the text of a sed script.

    Raises:
        Beyond: A command reads, writes or runs something.
        Refused: It is not understood.
    """
    walk = _Walk(script)
    while walk.more():
        walk.command()


class _Walk:
    def __init__(self, script: str) -> None:
        self.script = script
        self.at = 0

    def more(self) -> bool:
        self._skip(" \t\n;")
        return self.at < len(self.script)

    def command(self) -> None:
        """Walk over one command with its addresses."""
        self._addresses()
        self._skip(" \t!")
        letter = self._next()
        if letter in REACHING:
            raise Beyond(f"sed: the command {letter!r} reaches out.", REACHING[letter])
        if letter == "#":
            self._line()
        elif letter in ALONE:
            self._skip(" \t0123456789")
            self._end(letter)
        elif letter in LABELLED:
            self._label()
        elif letter in TEXT:
            self._text(letter)
        elif letter == "s":
            self._substitute()
        elif letter == "y":
            sign = self._sign()
            self._until(sign, brackets=False)
            self._until(sign, brackets=False)
            self._end(letter)
        elif letter == "}":
            self._end(letter)
        elif letter != "{":
            raise Refused(f"sed: the command {visible(letter)!r} is not understood.")

    def _addresses(self) -> None:
        while self.at < len(self.script):
            char = self.script[self.at]
            if match := _ADDRESS.match(self.script, self.at):
                self.at = match.end()
            elif char in "/\\":
                self.at += 1
                self._until(char if char == "/" else self._sign())
                self._skip("IM")
            else:
                return
            self._skip(" \t")
            if self.script[self.at : self.at + 1] != ",":
                return
            self.at += 1
            self._skip(" \t")

    def _substitute(self) -> None:
        sign = self._sign()
        self._until(sign)
        self._until(sign, brackets=False)
        flags = _FLAGS.match(self.script, self.at)
        self.at = flags.end() if flags else self.at
        following = self.script[self.at : self.at + 1]
        if following in {"e", "w"}:
            raise Beyond(f"sed: the flag {following!r} of s reaches out.", REACHING[following])
        self._end("s")

    def _sign(self) -> str:
        sign = self._next()
        if sign in "\n\\":
            raise Refused("sed: a line break or backslash is no delimiter.")
        return sign

    def _until(self, sign: str, *, brackets: bool = True) -> None:
        """Go behind the next delimiter that is neither escaped nor in brackets."""
        while self.at < len(self.script):
            char = self._next()
            if char == "\\":
                self.at += 1
            elif char == sign:
                return
            elif char == "[" and brackets:
                self._brackets()
        raise Refused("sed: an expression is not closed.")

    def _brackets(self) -> None:
        """Go behind ``[…]``; one that is never closed is left to be read as text."""
        match = re.compile(r"\^?\]?(\[[:.=][^\]\n]*[:.=]\]|[^\]\n])*\]").match(
            self.script, self.at
        )
        if match:
            self.at = match.end()

    def _label(self) -> None:
        while self.at < len(self.script) and self.script[self.at] not in ";\n}":
            self.at += 1

    def _text(self, letter: str) -> None:
        self._skip(" \t")
        if self.script[self.at : self.at + 1] == "\\":
            self._next()
            self._skip(" \t\n")
        if "\\" in self._line():
            raise Refused(f"sed: a backslash in the text of {letter!r} is not understood.")

    def _line(self) -> str:
        end = self.script.find("\n", self.at)
        end = len(self.script) if end < 0 else end
        line, self.at = self.script[self.at : end], end
        return line

    def _end(self, letter: str) -> None:
        self._skip(" \t")
        following = self.script[self.at : self.at + 1]
        if following not in {"", ";", "\n", "}", "#"}:
            raise Refused(f"sed: {visible(following)!r} after {letter!r} is not understood.")

    def _skip(self, chars: str) -> None:
        while self.at < len(self.script) and self.script[self.at] in chars:
            self.at += 1

    def _next(self) -> str:
        if self.at >= len(self.script):
            raise Refused("sed: the script ends too early.")
        self.at += 1
        return self.script[self.at - 1]
