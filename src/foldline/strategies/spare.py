"""Spare: what the room has left over goes back to the parts that were shortened."""

from __future__ import annotations

from collections.abc import Sequence

from foldline.core.edits import Rewrite
from foldline.core.view import View
from foldline.strategies.digest import Digest, Room
from foldline.strategies.truncate import Site, text_at


def still_short(
    view: View, made: Digest, sites: Sequence[Site], room: Room
) -> tuple[Rewrite, ...]:
    """
    Return the excerpts that are needed; the newest parts that fit whole need none.

    Lines are chosen for what they name, so a text that names little leaves room unused, while
    whoever asked for it has not seen it yet.

    Args:
        view: The view that holds the parts.
        made: The digest with an excerpt of each part.
        sites: The parts, in order.
        room: What digest and parts may take together.
    """
    texts = [made.text, *(edit.text or "" for edit in made.excerpts)]
    tokens = room.tokens - sum(map(view.counter.text, texts))
    characters = room.characters - sum(map(len, texts))
    short = {(edit.message, edit.part): edit for edit in made.excerpts}
    for site in sorted(sites, key=lambda site: (site.index, site.part), reverse=True):
        key = view.messages[site.index].id, site.part
        text = short[key].text or ""
        more = site.text - view.counter.text(text)
        longer = len(text_at(view, site)) - len(text)
        if more <= tokens and longer <= characters:
            tokens, characters = tokens - more, characters - longer
            del short[key]
    return tuple(edit for edit in made.excerpts if (edit.message, edit.part) in short)
