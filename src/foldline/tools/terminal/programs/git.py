"""
Git, read-only: which sub-commands, with which options.

What a repository itself configures to be run, no list can see. So git is told to run as little as
it can be told to, and is run only where the kernel confines it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from foldline.tools.terminal.paths import WorkingDirectory
from foldline.tools.terminal.programs.options import (
    CheckedCommand,
    OptionSpec,
    ProgramArguments,
    names,
    option_spec,
    read_arguments,
)
from foldline.tools.terminal.refusal import Beyond, Refused, visible


@dataclass(frozen=True, slots=True)
class GitCommand:
    """
    A sub-command: its options, what it is always told, and the first words it may have.

    ``words`` that hold "" may be left out. ``implied`` is the one that is meant then.
    """

    line: str
    forced: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    implied: str = ""

    @property
    def spec(self) -> OptionSpec:
        """The options, taken apart."""
        return option_spec(self.line)


_QUIET = ("--no-ext-diff", "--no-textconv")

_DIFF = (
    "-puszRaBbwW -U=count -M=word? -C=word? -S=text -G=text -l=count --patch --no-patch --raw "
    "--stat=text? --numstat --shortstat --dirstat=text? --summary --patch-with-stat "
    "--compact-summary --name-only --name-status --color=word? --no-color --color-words=text? "
    "--word-diff=word? --word-diff-regex=text --check --full-index --binary --abbrev=count? "
    "--diff-filter=word --find-renames=word? --find-copies=word? --no-renames --pickaxe-all "
    "--pickaxe-regex --text --ignore-space-at-eol --ignore-space-change --ignore-all-space "
    "--ignore-blank-lines --inter-hunk-context=count --function-context --exit-code --quiet "
    "--no-ext-diff --no-textconv --src-prefix=text --dst-prefix=text --no-prefix --unified=count "
    "--minimal --patience --histogram --diff-algorithm=word --relative=path? --no-relative "
    "--diff-merges=word --no-diff-merges --irreversible-delete --stat-width=count "
    "--stat-name-width=count --stat-count=count --ignore-submodules=word? --color-moved=word?"
)
_REVISIONS = (
    "-n=count -NUM=- -iEFPgm --max-count=count --skip=count --since=text --after=text "
    "--until=text --before=text --author=text --committer=text --grep=text --all-match "
    "--invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp "
    "--merges --no-merges --min-parents=count --max-parents=count --first-parent --all "
    "--branches=text? --tags=text? --remotes=text? --glob=text --exclude=text --reverse "
    "--walk-reflogs --cherry --cherry-pick --cherry-mark --left-right --left-only --right-only "
    "--boundary --simplify-by-decoration --full-history --ancestry-path --date-order "
    "--author-date-order --topo-order --not --no-walk --date=text --relative-date --parents "
    "--children --count --objects --abbrev-commit --no-abbrev-commit --oneline --pretty=text? "
    "--format=text --encoding=word --no-notes --notes=text? --graph --no-graph --decorate=word? "
    "--no-decorate --decorate-refs=text --decorate-refs-exclude=text --source --follow "
    "--full-diff --log-size -L=text -c --cc -t --show-linear-break=text? --no-mailmap --mailmap"
)
_LOG = f"{_DIFF} {_REVISIONS}"
_LISTS = (
    "-l -i --list --sort=text --contains=text? --no-contains=text? --merged=text? "
    "--no-merged=text? --points-at=text --format=text --column=word? --no-column --ignore-case "
    "--color=word? --no-color"
)

READING: Final = {
    "annotate": GitCommand("-lstrfnwpeM -L=text --date=text --porcelain"),
    "blame": GitCommand(
        "-lstrfnwpecb -L=text -M=word? -C=word? --root --show-stats --reverse "
        "--porcelain --line-porcelain --incremental --date=text --show-name --show-number "
        "--show-email --ignore-rev=text --abbrev=count --since=text --color-lines --color-by-age "
        "--first-parent"
    ),
    "branch": GitCommand(
        f"-arv --all --remotes --verbose --show-current --abbrev=count? {_LISTS}"
    ),
    "cat-file": GitCommand("-ptse"),
    "check-ignore": GitCommand("-vnq --verbose --non-matching --no-index --quiet"),
    "cherry": GitCommand("-v --abbrev=count?"),
    "config": GitCommand(
        "-lz --list --get --get-all --get-regexp --show-origin --show-scope --name-only --local "
        "--null --type=word --bool --int"
    ),
    "count-objects": GitCommand("-vH --verbose --human-readable"),
    "describe": GitCommand(
        "--all --tags --contains --abbrev=count --candidates=count --exact-match --long "
        "--match=text --exclude=text --always --first-parent --dirty=text?"
    ),
    "diff": GitCommand(f"{_DIFF} --cached --staged --merge-base -1203", _QUIET),
    "diff-tree": GitCommand(
        f"{_DIFF} -rtmcv --root --cc --no-commit-id --pretty=text? --format=text", _QUIET
    ),
    "for-each-ref": GitCommand(
        "--count=count --sort=text --format=text --points-at=text --merged=text? "
        "--no-merged=text? --contains=text? --no-contains=text? --ignore-case --color=word?"
    ),
    "grep": GitCommand(
        "-aIiwvhHEGFPnolLcpWqz -e=text -A=count -B=count -C=count -m=count -NUM=- --cached "
        "--untracked --text --ignore-case --word-regexp --invert-match --full-name "
        "--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column "
        "--files-with-matches --name-only --files-without-match --only-matching --count "
        "--color=word? --no-color --break --heading --show-function --function-context "
        "--after-context=count --before-context=count --context=count --and --or --not "
        "--all-match --max-depth=count --quiet --null --no-textconv --threads=count",
        ("--no-textconv", "--no-ext-grep"),
    ),
    "log": GitCommand(_LOG, _QUIET),
    "ls-files": GitCommand(
        "-cdmoiskuztvf -x=text --cached --deleted --modified --others --ignored --stage "
        "--killed --unmerged --directory --no-empty-directory --exclude=text --exclude-standard "
        "--error-unmatch --full-name --abbrev=count? --eol --deduplicate"
    ),
    "ls-tree": GitCommand(
        "-drtlz --long --name-only --name-status --full-name --full-tree --abbrev=count? "
        "--object-only --format=text"
    ),
    "merge-base": GitCommand("-a --all --octopus --independent --is-ancestor --fork-point"),
    "name-rev": GitCommand("--tags --refs=text --exclude=text --all --name-only --always"),
    "reflog": GitCommand(f"{_LOG}", _QUIET, frozenset({"", "show"}), "show"),
    "remote": GitCommand("-v --verbose --all --push", (), frozenset({"", "-v", "get-url"})),
    "rev-list": GitCommand(f"{_REVISIONS} --disk-usage --header --timestamp --objects-edge"),
    "rev-parse": GitCommand(
        "--abbrev-ref=word? --short=count? --verify -q --quiet --symbolic --symbolic-full-name "
        "--show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir "
        "--is-bare-repository --is-inside-work-tree --is-inside-git-dir "
        "--is-shallow-repository --all "
        "--branches=text? --tags=text? --remotes=text? --absolute-git-dir --show-object-format"
    ),
    "shortlog": GitCommand(
        f"{_REVISIONS} -nsec -w=word? --numbered --summary --email --group=text"
    ),
    "show": GitCommand(_LOG, _QUIET),
    "show-branch": GitCommand("-ar --all --remotes --current --list --merge-base --topics"),
    "show-ref": GitCommand("-dsq --head --heads --tags --dereference --hash=count? --verify"),
    "stash": GitCommand(_LOG, (), frozenset({"list"})),
    "status": GitCommand(
        "-sbvz -u=word? --short --branch --show-stash --porcelain=word? --long --verbose "
        "--untracked-files=word? --ignore-submodules=word? --ignored=word? --column=word? "
        "--no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=word?"
    ),
    "tag": GitCommand(f"-n=count? {_LISTS}"),
    "whatchanged": GitCommand(_LOG, _QUIET),
    "worktree": GitCommand("--porcelain -vz --verbose", (), frozenset({"list"})),
}
"""What is not here may write, run something, or need the network."""


ALWAYS: Final = (
    "--no-pager",
    "--no-optional-locks",
    *(
        word
        for setting in (
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "core.sshCommand=false",
            "credential.helper=",
            "gpg.program=false",
            "log.showSignature=false",
            "protocol.allow=never",
            "safe.bareRepository=explicit",
            "safe.directory=*",
            "submodule.recurse=false",
        )
        for word in ("-c", setting)
    ),
)

ENVIRONMENT: Final = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
}

HARMLESS: Final = re.compile(
    r"(color\.[a-z]+|core\.quote[pP]ath|log\.(date|decorate)|column\.ui|diff\.renames)=[\w:.-]*"
)
"""Settings that only change how something is shown."""

SIGNED: Final = re.compile(r"%G")
"""Formats that run a program which checks signatures."""

NETWORK: Final = names(
    "archive bundle clone fetch ls-remote pull push remote-http send-pack upload-pack"
)


def check_git(name: str, words: Sequence[str], place: WorkingDirectory) -> CheckedCommand:
    """
    Check ``git`` with a sub-command that reads.

    Raises:
        Beyond: The sub-command, or an option of it, may write or run something.
        Refused: It has no sub-command, or needs the network.
    """
    if list(words) in (["--version"], ["version"]):
        return CheckedCommand(name, ("version",))
    left = list(reversed(words))
    before: list[str] = []
    where = place
    while left and left[-1].startswith("-"):
        where = _global(left.pop(), left, before, where)
    if not left:
        raise Refused(f"{name}: a sub-command is missing.")
    return CheckedCommand(
        name, (*ALWAYS, *before, *_sub(left.pop(), left[::-1], where)), forks=True, opaque=True
    )


def _global(
    option: str, left: list[str], before: list[str], place: WorkingDirectory
) -> WorkingDirectory:
    if option in {"--no-pager", "-P", "--no-optional-locks"}:
        return place
    if option in {"-C", "-c"} and not left:
        raise Refused(f"git: the value of {option} is missing.")
    if option == "-C":
        moved = place.move_to(left.pop())
        before += ["-C", moved.directory]
        return moved
    if option == "-c" and HARMLESS.fullmatch(left[-1]):
        before += ["-c", left.pop()]
        return place
    raise Beyond(f"git with {visible(option)} is more than this terminal knows.", "execute")


def _sub(command: str, words: Sequence[str], place: WorkingDirectory) -> list[str]:
    if command in NETWORK:
        raise Refused(f"git {command} is refused.", "The terminal has no network.")
    row = READING.get(command)
    if row is None:
        raise Beyond(f"git {visible(command)} may write or run something.", "write")
    if row.implied and (not words or words[0].startswith("-")):
        words = [row.implied, *words]
    if row.words and (words[0] if words else "") not in row.words:
        raise Beyond(f"git {command} may write something.", "write")
    skipped = [words[0]] if row.words and words else []
    given = read_arguments(f"git {command}", row.spec, words[len(skipped) :], place)
    for value in given.values("--format", "--pretty"):
        if SIGNED.search(value):
            raise Beyond("git: a format with %G runs a program.", "execute")
    RULES.get(command, _any)(given)
    _check_operands(given, place)
    dashes = ["--"] if given.dashed else []
    revisions, paths = _split(given, words)
    return [command, *skipped, *row.forced, *given.words(row.spec), *revisions, *dashes, *paths]


def _split(given: ProgramArguments, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the operands before and after ``--``."""
    if not given.dashed:
        return list(given.operands), []
    after = len(words) - 1 - list(words).index("--")
    cut = len(given.operands) - after
    return list(given.operands[:cut]), list(given.operands[cut:])


def _check_operands(given: ProgramArguments, place: WorkingDirectory) -> None:
    """Check the operands that are, or look like, paths; a revision is none."""
    for operand in given.operands:
        place.check_shown(operand.rpartition(":")[2])
        looks = operand.startswith(("/", "./", "../")) or "/../" in operand or operand == ".."
        if looks or place.has_entry(operand):
            place.check(operand)


def _any(given: ProgramArguments) -> None:
    """Nothing more is asked of it."""


def _check_listing(*names: str) -> Callable[[ProgramArguments], None]:
    def rule(given: ProgramArguments) -> None:
        if given.operands and not given.has(*names):
            raise Beyond("git: a name without --list makes one.", "write")

    return rule


def _check_object(given: ProgramArguments) -> None:
    if not given.operands:
        raise Refused("git cat-file: an object is missing.")


def _check_config(given: ProgramArguments) -> None:
    if not given.has("--get", "--get-all", "--get-regexp", "--list", "-l"):
        raise Beyond("git config without --get or --list writes.", "write")


_LISTING: Final = names("-l --list --contains --no-contains --merged --no-merged --points-at")
"""With one of these, names are patterns."""

RULES: Final[dict[str, Callable[[ProgramArguments], None]]] = {
    "branch": _check_listing(*_LISTING),
    "cat-file": _check_object,
    "config": _check_config,
    "tag": _check_listing(*_LISTING, "-n"),
}
