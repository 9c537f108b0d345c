"""The options of git that only read, by sub-command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from foldline.tools.terminal.programs.options import Options, options


@dataclass(frozen=True, slots=True)
class Reading:
    """
    A sub-command: its options, what it is always told, and the first words it may have.

    ``words`` that hold "" may be left out. ``implied`` is the one that is meant then.
    """

    line: str
    forced: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    implied: str = ""

    @property
    def spec(self) -> Options:
        """The options, taken apart."""
        return options(self.line)


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
    "annotate": Reading("-lstrfnwpeM -L=text --date=text --porcelain"),
    "blame": Reading(
        "-lstrfnwpecb -L=text -M=word? -C=word? --root --show-stats --reverse "
        "--porcelain --line-porcelain --incremental --date=text --show-name --show-number "
        "--show-email --ignore-rev=text --abbrev=count --since=text --color-lines --color-by-age "
        "--first-parent"
    ),
    "branch": Reading(f"-arv --all --remotes --verbose --show-current --abbrev=count? {_LISTS}"),
    "cat-file": Reading("-ptse"),
    "check-ignore": Reading("-vnq --verbose --non-matching --no-index --quiet"),
    "cherry": Reading("-v --abbrev=count?"),
    "config": Reading(
        "-lz --list --get --get-all --get-regexp --show-origin --show-scope --name-only --local "
        "--null --type=word --bool --int"
    ),
    "count-objects": Reading("-vH --verbose --human-readable"),
    "describe": Reading(
        "--all --tags --contains --abbrev=count --candidates=count --exact-match --long "
        "--match=text --exclude=text --always --first-parent --dirty=text?"
    ),
    "diff": Reading(f"{_DIFF} --cached --staged --merge-base -1203", _QUIET),
    "diff-tree": Reading(
        f"{_DIFF} -rtmcv --root --cc --no-commit-id --pretty=text? --format=text", _QUIET
    ),
    "for-each-ref": Reading(
        "--count=count --sort=text --format=text --points-at=text --merged=text? "
        "--no-merged=text? --contains=text? --no-contains=text? --ignore-case --color=word?"
    ),
    "grep": Reading(
        "-aIiwvhHEGFPnolLcpWqz -e=text -A=count -B=count -C=count -m=count -NUM=- --cached "
        "--untracked --text --ignore-case --word-regexp --invert-match --full-name "
        "--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column "
        "--files-with-matches --name-only --files-without-match --only-matching --count "
        "--color=word? --no-color --break --heading --show-function --function-context "
        "--after-context=count --before-context=count --context=count --and --or --not "
        "--all-match --max-depth=count --quiet --null --no-textconv --threads=count",
        ("--no-textconv", "--no-ext-grep"),
    ),
    "log": Reading(_LOG, _QUIET),
    "ls-files": Reading(
        "-cdmoiskuztvf -x=text --cached --deleted --modified --others --ignored --stage "
        "--killed --unmerged --directory --no-empty-directory --exclude=text --exclude-standard "
        "--error-unmatch --full-name --abbrev=count? --eol --deduplicate"
    ),
    "ls-tree": Reading(
        "-drtlz --long --name-only --name-status --full-name --full-tree --abbrev=count? "
        "--object-only --format=text"
    ),
    "merge-base": Reading("-a --all --octopus --independent --is-ancestor --fork-point"),
    "name-rev": Reading("--tags --refs=text --exclude=text --all --name-only --always"),
    "reflog": Reading(f"{_LOG}", _QUIET, frozenset({"", "show"}), "show"),
    "remote": Reading("-v --verbose --all --push", (), frozenset({"", "-v", "get-url"})),
    "rev-list": Reading(f"{_REVISIONS} --disk-usage --header --timestamp --objects-edge"),
    "rev-parse": Reading(
        "--abbrev-ref=word? --short=count? --verify -q --quiet --symbolic --symbolic-full-name "
        "--show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir "
        "--is-bare-repository --is-inside-work-tree --is-inside-git-dir "
        "--is-shallow-repository --all "
        "--branches=text? --tags=text? --remotes=text? --absolute-git-dir --show-object-format"
    ),
    "shortlog": Reading(f"{_REVISIONS} -nsec -w=word? --numbered --summary --email --group=text"),
    "show": Reading(_LOG, _QUIET),
    "show-branch": Reading("-ar --all --remotes --current --list --merge-base --topics"),
    "show-ref": Reading("-dsq --head --heads --tags --dereference --hash=count? --verify"),
    "stash": Reading(_LOG, (), frozenset({"list"})),
    "status": Reading(
        "-sbvz -u=word? --short --branch --show-stash --porcelain=word? --long --verbose "
        "--untracked-files=word? --ignore-submodules=word? --ignored=word? --column=word? "
        "--no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=word?"
    ),
    "tag": Reading(f"-n=count? {_LISTS}"),
    "whatchanged": Reading(_LOG, _QUIET),
    "worktree": Reading("--porcelain -vz --verbose", (), frozenset({"list"})),
}
"""What is not here may write, run something, or need the network."""
