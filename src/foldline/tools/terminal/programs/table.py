"""All programs that only read, by name: a row of options for most, a checker for the others."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from foldline.core.validation import meant
from foldline.tools.terminal.paths import FOLDERS, WorkingDirectory, check_below
from foldline.tools.terminal.programs.git import check_git
from foldline.tools.terminal.programs.options import (
    CheckedCommand,
    Checker,
    ProgramArguments,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.programs.scripts import check_awk, check_jq, check_sed
from foldline.tools.terminal.programs.searching import (
    check_find,
    check_grep,
    check_inner,
    check_rg,
    check_xargs,
)
from foldline.tools.terminal.programs.speaking import (
    check_date,
    check_df,
    check_echo,
    check_printf,
    check_test,
    check_which,
)
from foldline.tools.terminal.refusal import Beyond, Refused, visible

Operands: TypeAlias = Literal["paths", "listed", "names", "text", "none"]
"""
Paths to read; paths to list, also pipes and devices; names of which a last link is not followed;
anything; or nothing.
"""


@dataclass(frozen=True, slots=True)
class Program:
    """
    One row: its options, what its operands are, and how many it takes at most.

    ``runs`` is the program that is really run, ``forced`` what it is always told. ``bare`` leaves
    the options out, ``dashed`` says whether the program understands ``--``. ``expands`` says that
    it puts the words of a file in place of ``@file``, even behind ``--``.
    """

    options: str = ""
    operands: Operands = "paths"
    most: int = 10_000
    runs: str = ""
    forced: tuple[str, ...] = ()
    dashed: bool = True
    bare: bool = False
    expands: bool = False


_FOLLOWING: Final = ("-L", "--dereference", "-f", "-e", "-m", "--canonicalize")
"""With these, a program that names links follows them."""

_ITSELF: Final = ("-l", "-d", "--directory", "--full-time")
"""With these, ls shows a link that it is given, and not what it leads to..."""

_TARGET: Final = (
    *("-C", "-F", "-m", "-p", "-x", "--classify", "--color", "--file-type", "--format"),
    "--indicator-style",
)
"""...unless with one of these, which list what it leads to or tell what that is."""

_CAT = "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs"
_HEAD = "-qvz -n=count -c=count -NUM=n --lines=count --bytes=count --quiet --silent --verbose"
_LS = (
    "-aAbBcCdfFghiklmnNopqQrRsStuUvxX1Z -I=text -w=count -T=count --all --almost-all --author "
    "--escape --block-size=word --ignore-backups --color=word? --directory --classify=word? "
    "--file-type --format=word --full-time --group-directories-first --no-group --human-readable "
    "--si --hide=text --indicator-style=word --inode --ignore=text --kibibytes "
    "--numeric-uid-gid --literal --hide-control-chars --quote-name --quoting-style=word "
    "--reverse --recursive --size --sort=word --time=word --time-style=text --width=count "
    "--zero --context"
)
_SORT = (
    "-bdfgiMhnRrVcCmsuz -k=word -t=text -S=word --key=word --field-separator=text --unique "
    "--numeric-sort --reverse --general-numeric-sort --human-numeric-sort --month-sort "
    "--version-sort --ignore-case --ignore-leading-blanks --ignore-nonprinting "
    "--dictionary-order --stable --check=word? --merge --zero-terminated --sort=word "
    "--random-sort --buffer-size=word --parallel=count --debug"
)
_SUM = "-btz --tag --zero --text --binary"

TABLE: Final = {
    "cat": Program(_CAT),
    "head": Program(_HEAD + " --zero-terminated"),
    "tail": Program(_HEAD + " --zero-terminated"),
    "tac": Program("-br -s=text --before --regex --separator=text"),
    "nl": Program(
        "-p -b=text -d=text -f=text -h=text -i=count -l=count -n=word -s=text -v=count -w=count "
        "--body-numbering=text --number-format=word --number-separator=text --number-width=count "
        "--starting-line-number=count --line-increment=count --no-renumber"
    ),
    "less": Program("-nNSRXFEeiIsrMmqgGKu", runs="cat", bare=True),
    "more": Program("-dlfpcsu", runs="cat", bare=True),
    "ls": Program(_LS, "listed"),
    "dir": Program(_LS, "listed", runs="ls"),
    "tree": Program(
        "-adfgiDJhnNpqQrsStUuvXFAC -L=count -P=text -I=text -H=text --dirsfirst --filesfirst "
        "--noreport --prune --du --si --sort=word --matchdirs --ignore-case --gitignore "
        "--filelimit=count --charset=word --timefmt=text --inodes --device --fflinks",
        "listed",
        dashed=False,
    ),
    "stat": Program(
        "-Lt -c=text --dereference --format=text --printf=text --terse", operands="names"
    ),
    "readlink": Program(
        "-fenmqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline "
        "--zero --quiet --silent --verbose",
        operands="names",
    ),
    "realpath": Program(
        "-emPqsz --relative-to=path --relative-base=path --canonicalize-existing "
        "--canonicalize-missing --no-symlinks --strip --quiet --zero"
    ),
    "file": Program(
        "-bhikNnrsv0 -F=text -e=word --brief --mime --mime-type --mime-encoding "
        "--extension --separator=text --keep-going --no-dereference --no-pad --print0 --raw",
        operands="names",
    ),
    "du": Program(
        "-0abchkmPsSx -d=count -B=word -t=count --all --apparent-size --block-size=word --bytes "
        "--total --max-depth=count --human-readable --si --summarize --separate-dirs "
        "--no-dereference --exclude=text --one-file-system --threshold=count --inodes --null "
        "--time=word? --time-style=text",
        "listed",
    ),
    "wc": Program("-clmwL --bytes --chars --lines --words --max-line-length --total=word"),
    "sort": Program(_SORT),
    "uniq": Program(
        "-cdDiuz -f=count -s=count -w=count --count --repeated --all-repeated=word? "
        "--skip-fields=count --skip-chars=count --check-chars=count --ignore-case --unique "
        "--group=word? --zero-terminated",
        most=1,
    ),
    "cut": Program(
        "-nsz -b=word -c=word -d=text -f=word --bytes=word --characters=word --delimiter=text "
        "--fields=word --complement --only-delimited --output-delimiter=text --zero-terminated"
    ),
    "paste": Program("-sz -d=text --delimiters=text --serial --zero-terminated"),
    "join": Program(
        "-iz -a=count -e=text -j=count -o=word -t=text -v=count -1=count -2=count "
        "--ignore-case --check-order --nocheck-order --header --zero-terminated",
        most=2,
    ),
    "comm": Program(
        "-123z --check-order --nocheck-order --output-delimiter=text --total --zero-terminated",
        most=2,
    ),
    "cmp": Program(
        "-bls -i=word -n=count --print-bytes --verbose --quiet --silent --ignore-initial=word "
        "--bytes=count",
        most=4,
    ),
    "diff": Program(
        "-abBcdEeiNnpqrsTtuwyZ -C=count -U=count -W=count -F=text -I=text -x=text --brief "
        "--recursive --unified=count? --context=count? --side-by-side --width=count "
        "--suppress-common-lines --left-column --ignore-case --ignore-all-space "
        "--ignore-space-change --ignore-blank-lines --ignore-trailing-space "
        "--ignore-tab-expansion --ignore-matching-lines=text --exclude=text --new-file --text "
        "--minimal --normal "
        "--report-identical-files --show-c-function --strip-trailing-cr --color=word? "
        "--expand-tabs --initial-tab --ignore-file-name-case --label=text --no-dereference",
        most=2,
        forced=("--no-dereference",),
    ),
    "tr": Program(
        "-cCdst --complement --delete --squeeze-repeats --truncate-set1", "text", most=2
    ),
    "rev": Program(""),
    "fold": Program("-bs -w=count -NUM=w --bytes --spaces --width=count"),
    "fmt": Program("-cstu -w=count -p=text -g=count -NUM=w --width=count --split-only"),
    "column": Program(
        "-tenxJLr -s=text -c=count -o=text -N=text -R=text -H=text --table --separator=text "
        "--output-separator=text --output-width=count --table-columns=text --json "
        "--table-name=text"
    ),
    "expand": Program("-i -t=word -NUM=t --initial --tabs=word"),
    "unexpand": Program("-a -t=word --all --first-only --tabs=word"),
    "od": Program(
        "-abcdDfFhHiIlLosxvX -A=word -j=word -N=count -t=word -w=count? -S=count "
        "--address-radix=word --skip-bytes=word --read-bytes=count --format=word "
        "--output-duplicates --width=count?"
    ),
    "hexdump": Program("-bcCdovx -n=count -s=word -e=text --canonical --length=count"),
    "xxd": Program(
        "-abBceEhipurR -c=count -g=count -l=count -o=count -s=word", most=1, dashed=False
    ),
    "strings": Program(
        "-aw -n=count -t=word -e=word -NUM=n --all --bytes=count --radix=word", expands=True
    ),
    "base64": Program("-di -w=count --decode --ignore-garbage --wrap=count", most=1),
    "base32": Program("-di -w=count --decode --ignore-garbage --wrap=count", most=1),
    "cksum": Program("-a=word --algorithm=word --untagged --tag"),
    "md5sum": Program(_SUM),
    "sha1sum": Program(_SUM),
    "sha224sum": Program(_SUM),
    "sha256sum": Program(_SUM),
    "sha384sum": Program(_SUM),
    "sha512sum": Program(_SUM),
    "b2sum": Program(_SUM + " -l=count --length=count"),
    "sum": Program("-rs --sysv"),
    "shuf": Program(
        "-erz -i=word -n=count --echo --repeat --input-range=word --head-count=count", most=1
    ),
    "tsort": Program("", most=1),
    "numfmt": Program(
        "-dz --from=word --to=word --from-unit=word --to-unit=word --suffix=text --field=word "
        "--format=text --grouping --header=count? --padding=count --round=word --invalid=word "
        "--delimiter=text -d=text",
        "text",
    ),
    "basename": Program("-az -s=text --multiple --suffix=text --zero", "text"),
    "dirname": Program("-z --zero", "text"),
    "seq": Program("-w -f=text -s=text --equal-width --format=text --separator=text", "text", 3),
    "pwd": Program("-LP --logical --physical", "none", runs="pwd", forced=("-P",)),
    "true": Program("", "text", dashed=False),
    "false": Program("", "text", dashed=False),
}


def _check_row(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check a command by its row.

    Args:
        name: The name of the row.
        words: The arguments.
        place: Where paths are looked up.

    Raises:
        Beyond: It goes beyond the row.
        Refused: It makes no sense.
    """
    row = TABLE[name]
    program = row.runs or name
    if list(words) in (["--help"], ["--version"]):
        return CheckedCommand(program, tuple(words))
    spec = option_spec(row.options)
    given = read_arguments(name, spec, words, place)
    operands = given.operands
    if len(operands) > (0 if row.operands == "none" else row.most):
        raise Refused(f"{name}: too many operands.", "The second one may be a file to write.")
    for operand in operands:
        _check_operand(operand, row, given, place)
        if name == "diff" and given.has("-r", "--recursive"):
            check_below(place, operand)
    if row.bare:
        return CheckedCommand(program, ("--", *operands))
    written = [*row.forced, *given.words(spec)]
    if not row.dashed:
        plain = (f"./{one}" if one.startswith("-") and one != "-" else one for one in operands)
        return CheckedCommand(program, (*written, *plain))
    return CheckedCommand(program, (*written, "--", *operands))


def _check_operand(
    operand: str, row: Program, given: ProgramArguments, place: WorkingDirectory
) -> None:
    if row.expands and operand.startswith("@"):
        raise Refused(
            f"{visible(operand)} stands for the words in a file, which nobody has checked.",
            f"Write {visible('./' + operand)} for a file of that name.",
        )
    if operand == "-" or row.operands in {"text", "none"}:
        return
    if row.operands == "listed" and given.has(*_ITSELF) and not given.has(*_TARGET):
        place.check_name(operand)
    elif row.operands == "listed":
        place.resolve(operand)
    elif row.operands == "paths" or given.has(*_FOLLOWING):
        place.check(operand)
    else:
        place.check_name(operand)


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

PROGRAM_NAMES: Final = tuple(sorted({*SPECIAL, *TABLE, "cd", "find", "xargs"} - {"["}))
"""What the terminal knows to only read."""


def check_command(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
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
        return _check_row(name, words, place)
    if name == "find":
        return check_find(
            name,
            words,
            place,
            lambda body, where: check_inner(body, where, check_command, "find -exec"),
        )
    if name == "xargs":
        return check_xargs(name, words, place, check_command)
    if name in NETWORK:
        raise Refused(f"{name} is refused.", "The terminal has no network.")
    if name in WRITERS:
        raise Beyond(f"{name} changes files.", "write")
    near = meant(name, PROGRAM_NAMES) if name.isascii() else ""
    raise Beyond(
        f"{visible(name, 60)} is not one of the programs that only read. {near}".rstrip(),
        "execute",
    )
