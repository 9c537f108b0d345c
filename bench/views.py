"""The view of a shortened history that a reader gets, for any method."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import foldline
from histories import TOLERANCE, History, flat, tokens_of
from references import WAYS, within

OURS = "Foldline"


@dataclass(frozen=True, slots=True)
class View:
    """
    A shortened history as text.

    ``large`` means that it exceeded its budget and was cut there; ``problem`` is why there
    is none, and ``asked`` the number of model calls.
    """

    text: str
    large: bool = False
    problem: str = ""
    asked: int = 0


Make = Callable[[History, float], View]
"""Makes a view of a history at a share of its tokens."""


def ours(history: History, share: float) -> View:
    """Shorten by Foldline without a model; a view over its budget counts as nothing."""
    result = foldline.compact(history.messages, budget=history.budget(share))
    if result.receipt.status == "failed":
        return View("", problem=result.receipt.reason)
    over = foldline.count(result.messages) > history.budget(share)
    return View("" if over else flat(result.messages), large=over)


def reference(name: str) -> Make:
    """Return a reference method."""

    def make(history: History, share: float) -> View:
        return View(within(WAYS[name], history.messages, history.budget(share)))

    return make


def library(running: Any, accounts: Path | None = None) -> Make:
    """Return the method of a library; too large a result is cut at the end where it loses less."""

    def make(history: History, share: float) -> View:
        budget = history.budget(share)
        kind = "extractive" if accounts is None else f"accounts:{accounts.resolve()}"
        answer = running.compact(history.messages, budget, summarizer=kind)
        if answer.messages is None:
            return View("", problem=answer.problem)
        text = flat(answer.messages)
        used = tokens_of(text)
        if used <= budget * TOLERANCE:
            return View(text, asked=answer.model_calls)
        room = len(text) * budget // used
        ends = (text[:room], text[-room:])
        best = max(ends, key=lambda end: sum(history.kept(end)))
        return View(best, large=True, asked=answer.model_calls)

    return make


@contextmanager
def method(name: str, accounts: Path | None = None) -> Iterator[Make]:
    """
    Yield a function that makes the views of a method; a library runs while it is in use.

    Args:
        name: The method.
        accounts: Folder of the accounts that a library requests from a model; without it
            the stand-in of all libraries writes them.

    Raises:
        ValueError: There is no method of this name.
    """
    if name == OURS:
        yield ours
    elif name in WAYS:
        yield reference(name)
    else:
        # Imported here: it creates the environment of the library.
        from peer import peers

        (peer,) = peers(name)
        if peer.problem:
            print(f"{name}: {peer.problem}", file=sys.stderr)
        with peer.running() as running:
            yield library(running, accounts)
