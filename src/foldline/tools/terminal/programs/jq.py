"""Jq: a filter and paths; a filter that loads modules or other files goes beyond it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from foldline.tools.terminal.paths import Place
from foldline.tools.terminal.programs.checked import Checked, names
from foldline.tools.terminal.refusal import Beyond, Refused, visible

FLAGS: Final = names(
    "--null-input --raw-input --raw-output --ascii-output --compact-output --color-output "
    "--monochrome-output --sort-keys --slurp --join-output --exit-status --tab --seq --stream "
    "--unbuffered --help --version"
)
LETTERS: Final = frozenset("nrRacCMSsje")

LOADING: Final = re.compile(r"(?<![.\w\"$-])(import|include|modulemeta|get_search_list)\b")


def check_jq(name: str, words: Sequence[str], place: Place) -> Checked:
    """
    Check ``jq``.

    Raises:
        Beyond: An option or the filter reads another file.
    """
    out: list[str] = []
    operands: list[str] = []
    left = list(reversed(words))
    while left:
        word = left.pop()
        if word in {"--arg", "--argjson"}:
            if len(left) < 2:
                raise Refused(f"{name}: {word} takes a name and a value.")
            out += [word, left.pop(), left.pop()]
        elif word == "--indent" and left and re.fullmatch("[0-7]", left[-1]):
            out += [word, left.pop()]
        elif word in FLAGS or (re.fullmatch(r"-[A-Za-z]+", word) and {*word[1:]} <= LETTERS):
            out.append(word)
        elif word.startswith("-") and word != "-":
            raise Beyond(
                f"{name} with {visible(word)} is more than this terminal knows.", "outside"
            )
        else:
            operands.append(word)
    if not operands and not {"--help", "--version"} & {*out}:
        raise Refused(f"{name}: a filter is missing.")
    if operands and LOADING.search(operands[0]):
        raise Beyond(f"{name}: the filter loads another file.", "outside")
    for path in operands[1:]:
        place.check(path)
    return Checked(name, (*out, *operands))
