"""What authors left for later: TODO, FIXME and the like, in comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from foldline.agents.maintainer.survey.files import Source

_MARKER: Final = re.compile(
    r"(?:#|//|/\*|^\s*\*|--|<!--|;|%).{0,200}?\b(TODO|FIXME|XXX|HACK)\b[ :(\-]{0,3}(.{0,160})"
)

LONGEST: Final = 400
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One of them: the word, what follows it, and where."""

    kind: str
    path: str
    line: int
    text: str


def markers(source: Source) -> Iterator[Marker]:
    """Yield what was left for later in a file."""
    for number, line in enumerate(source.text.splitlines(), 1):
        found = _MARKER.search(line[:LONGEST])
        if found is not None:
            text = found[2].strip().removesuffix("*/").removesuffix("-->").strip()
            yield Marker(found[1], source.path, number, text)
