"""Programs that search in files: grep and ripgrep."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.checked import Checked
from foldline.tools.terminal.programs.options import Arguments, Options, options, read
from foldline.tools.terminal.refusal import Refused
from foldline.tools.terminal.secrets import check_below

GREP: Final = options(
    "-EFGPHhiIlLnoqrsvwxcazbTUZy -e=text -m=count -A=count -B=count -C=count -D=word -d=word "
    "-NUM=C --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp=text "
    "--ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count "
    "--color=word? --colour=word? --files-without-match --files-with-matches --max-count=count "
    "--only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename "
    "--label=text --line-number --initial-tab --null --after-context=count "
    "--before-context=count --context=count --text --binary-files=word --exclude=text "
    "--exclude-dir=text --include=text --recursive --line-buffered --null-data "
    "--group-separator=text --no-group-separator --directories=word --devices=word"
)

RG: Final = options(
    "-acFhiHIlnNopPqsSUuvwx0.V -e=text -g=text -t=word -T=word -m=count -A=count -B=count "
    "-C=count -j=count -M=count -r=text -E=word -d=count --regexp=text --glob=text --iglob=text "
    "--type=word --type-not=word --max-count=count --after-context=count --before-context=count "
    "--context=count --threads=count --max-columns=count --replace=text --max-depth=count "
    "--max-filesize=word --color=word --colors=text --sort=word --sortr=word --encoding=word "
    "--engine=word --files --files-with-matches --files-without-match --fixed-strings "
    "--ignore-case --case-sensitive --smart-case --invert-match --line-number --no-line-number "
    "--line-regexp --word-regexp --only-matching --count --count-matches --heading --no-heading "
    "--with-filename --no-filename --hidden --no-hidden --no-ignore --no-ignore-vcs "
    "--no-ignore-parent --no-ignore-global --no-ignore-dot --no-messages --no-config --null "
    "--null-data --passthru --pretty --quiet --stats --text --trim --unrestricted --vimgrep "
    "--json --column --no-column --block-buffered --line-buffered --crlf --multiline "
    "--multiline-dotall --pcre2 --one-file-system --type-list --binary --byte-offset "
    "--context-separator=text --no-context-separator --max-columns-preview"
)


def check_grep(name: str, words: Sequence[str], place: Place) -> Checked:
    """Check ``grep``, ``egrep`` and ``fgrep``: a pattern, then paths."""
    if list(words) in (["--help"], ["--version"]):
        return Checked("grep", tuple(words))
    forced = {"egrep": ("-E",), "fgrep": ("-F",)}.get(name, ())
    return _search("grep", forced, GREP, words, place)


def check_rg(name: str, words: Sequence[str], place: Place) -> Checked:
    """Check ``rg``: a pattern, then paths; by itself it reads no configuration."""
    if list(words) in (["--help"], ["--version"]):
        return Checked(name, tuple(words))
    return _search(name, ("--no-config", "--no-ignore-parent", "--color=never"), RG, words, place)


def _search(
    name: str, forced: tuple[str, ...], spec: Options, words: Sequence[str], place: Place
) -> Checked:
    given = read(name, spec, words, place)
    patterns = 0 if given.has("-e", "--regexp", "--files", "--type-list") else 1
    if len(given.operands) < patterns:
        raise Refused(f"{name}: a pattern is missing.")
    paths = [path for path in given.operands[patterns:] if path != "-"]
    whole = name == "rg" or given.has("-r", "--recursive") or "recurse" in _directories(given)
    for path in paths:
        place.check(path)
    if whole and not given.has("--files", "--type-list"):
        for path in paths or ["."]:
            check_below(place, path, lambda below: _is_searched(name, given, below))
    return Checked(name, (*forced, *given.words(spec), "--", *given.operands))


def _directories(given: Arguments) -> list[str]:
    return given.values("-d", "--directories")


def _is_searched(name: str, given: Arguments, below: str) -> bool:
    """Return False if the options leave a file out; in doubt it is searched."""
    parts = below.split("/")
    if name == "rg":
        every = given.has("--hidden", "-.", "-u", "--unrestricted", "-g", "--glob", "--iglob")
        return every or not any(part.startswith(".") for part in parts)

    def fits(pattern: str, names: Sequence[str]) -> bool:
        return any(fnmatchcase(one, pattern) for one in names)

    only = given.values("--include")
    if only and not any(fits(pattern, parts[-1:]) for pattern in only):
        return False
    if any(fits(pattern, parts[-1:]) for pattern in given.values("--exclude")):
        return False
    return not any(fits(pattern, parts[:-1]) for pattern in given.values("--exclude-dir"))
