"""
Xargs: it hands on words that nobody has seen yet.

So it runs only what is safe whatever its operands are, with ``--`` before them: such a word is a
name to read, never an option. Where such a name leads is for the kernel to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from foldline.tools.terminal.binaries import located
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.checked import Checked, names, shows
from foldline.tools.terminal.programs.options import options, read
from foldline.tools.terminal.refusal import Beyond, Refused, visible
from foldline.tools.terminal.secrets import check_below

XARGS: Final = options(
    "-0rtx -I=text -i=text? -n=count -L=count -l=count? -P=count -s=count -d=text -E=text --null "
    "--no-run-if-empty --verbose --exit --replace=text? --max-args=count --max-lines=count? "
    "--max-procs=count --max-chars=count --delimiter=text"
)

READERS: Final = names(
    "cat head tail wc grep egrep fgrep ls stat file nl tac basename dirname du rev cut md5sum "
    "sha1sum sha256sum sha512sum cksum echo od strings realpath readlink base64"
)
"""What is safe with any operands: it reads them, and no operand is one to write."""

REPLACED: Final = re.compile(r"\{\}|[%@]|[A-Z]{2,20}")
"""What stands for a name: it never occurs in the path of a program, which is replaced, too."""

Check = Callable[[str, Sequence[str], Place], Checked]


def check_inner(words: Sequence[str], place: Place, check: Check, by: str) -> Checked:
    """
    Check a command that gets operands which nobody has seen.

    Args:
        words: The command.
        place: Where its paths are looked up.
        check: Checks any command.
        by: Who runs it, for errors.

    Raises:
        Beyond: The command is not one that only reads its operands.
    """
    name, *rest = words
    if name not in READERS:
        raise Beyond(
            f"{by} runs only programs that read their operands, not {visible(name)}.", "execute"
        )
    return check(name, rest, place)


def check_xargs(name: str, words: Sequence[str], place: Place, check: Check) -> Checked:
    """Check ``xargs`` and what it runs."""
    given = read(name, XARGS, words, place, mixed=False)
    for sign in given.values("-I", "-i", "--replace"):
        if sign and not REPLACED.fullmatch(sign):
            raise Refused(f"{name}: use {{}} as the sign that is replaced, not {visible(sign)}.")
    if shows(given.operands[0] if given.operands else "echo"):
        check_below(place, ".")
    checked = check_inner(given.operands or ("echo",), place, check, name)
    out = (*given.words(XARGS), "--", located(checked.program), *checked.arguments)
    return Checked(name, out, forks=True, opaque=True)
