"""All programs that only read, by name; and what is said about the others."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from foldline.core.validation import meant
from foldline.tools.terminal.binaries import FOLDERS
from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.awk import check_awk
from foldline.tools.terminal.programs.checked import Checked, Checker, names
from foldline.tools.terminal.programs.finding import check_find
from foldline.tools.terminal.programs.git import check_git
from foldline.tools.terminal.programs.jq import check_jq
from foldline.tools.terminal.programs.passing import check_inner, check_xargs
from foldline.tools.terminal.programs.searching import check_grep, check_rg
from foldline.tools.terminal.programs.sed import check_sed
from foldline.tools.terminal.programs.speaking import (
    check_date,
    check_df,
    check_echo,
    check_printf,
    check_test,
    check_which,
)
from foldline.tools.terminal.programs.table import TABLE
from foldline.tools.terminal.programs.table import check as check_row
from foldline.tools.terminal.refusal import Beyond, Refused, visible

SPECIAL: Final[dict[str, Checker]] = {
    "[": check_test,
    "awk": check_awk,
    "date": check_date,
    "df": check_df,
    "echo": check_echo,
    "egrep": check_grep,
    "fgrep": check_grep,
    "git": check_git,
    "grep": check_grep,
    "jq": check_jq,
    "printf": check_printf,
    "rg": check_rg,
    "sed": check_sed,
    "test": check_test,
    "whereis": check_which,
    "which": check_which,
}

WRITERS: Final = names(
    "chmod chown cp dd ed install ln mkdir mkfifo mv patch rm rmdir split tee touch truncate"
)

NETWORK: Final = names(
    "curl dig ftp host nc ncat netcat nslookup ping rsync scp sftp ssh telnet wget"
)

NAMES: Final = tuple(sorted({*SPECIAL, *TABLE, "cd", "find", "xargs"} - {"["}))
"""What the terminal knows to only read."""


def check(name: str, words: Sequence[str], place: Place) -> Checked:
    """
    Check one command.

    Args:
        name: The program as it was written: a name, or its path in a directory of the system.
        words: Its arguments.
        place: Where its paths are looked up.

    Raises:
        Beyond: It does more than read the workspace, or is not known.
        Refused: It makes no sense, or could never be allowed.
    """
    if "/" in name and posixpath.dirname(name) in FOLDERS:
        name = posixpath.basename(name)
    if name in SPECIAL:
        return SPECIAL[name](name, words, place)
    if name in TABLE:
        return check_row(name, words, place)
    if name == "find":
        return check_find(
            name, words, place, lambda body, where: check_inner(body, where, check, "find -exec")
        )
    if name == "xargs":
        return check_xargs(name, words, place, check)
    if name in NETWORK:
        raise Refused(f"{name} is refused.", "The terminal has no network.")
    if name in WRITERS:
        raise Beyond(f"{name} changes files.", "write")
    near = meant(name, NAMES) if name.isascii() else ""
    raise Beyond(
        f"{visible(name, 60)} is not one of the programs that only read. {near}".rstrip(),
        "execute",
    )
