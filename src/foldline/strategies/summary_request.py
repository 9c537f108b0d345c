"""Summary request: what a model is asked for, in which language, what it may read and write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from foldline.core.asks import Reader
from foldline.core.language import LANGUAGES, Language, language
from foldline.core.protect import is_snapshot
from foldline.core.strategy import Need
from foldline.core.summary import SummarySettings
from foldline.core.view import View
from foldline.strategies.excerpt import excerpt
from foldline.strategies.facts import plan
from foldline.strategies.material import handle_at
from foldline.strategies.prompt import Task, compose
from foldline.strategies.templates import Template, template

LEAST = 64
"""The least room worth asking for, in tokens."""

SPARE, SCRATCH = 1.25, 1.5
"""
How long the answer may come before the provider cuts it off, as a multiple of the account, and
what a block to think in may take besides.
"""

HALF = 2
"""An account takes at most this part of what it stands for: a longer one never pays."""

QUARTER = 4
"""The answer takes at most this part of the reader's window."""

MARGIN = 0.06
"""
Fraction of the reader's window that is kept free, since its tokenizer counts otherwise than ours:
what the estimate may be wrong by on a whole context (p95).
"""

TOOLS, TOOL_NAME = 60, re.compile(r"[\w.:/@-]{1,80}")
"""How many names of tools a request lists, and what is taken for one."""

FOCUS = 2_000
"""Characters of a focus that a request has."""

BESIDE = 300
"""Tokens of a message of the user that stays in sight, for a model that would not see it."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """
    An account that a model is asked for.

    ``positions`` are the messages that it stands for, ``room`` is what the snapshot may take in
    tokens. ``template`` takes the place of the one that the settings name.
    """

    view: View
    need: Need
    reader: Reader
    positions: Sequence[int]
    room: int
    settings: SummarySettings
    template: Template | None = None

    def task(self, source: int) -> Task:
        """
        Say what is to be told of a source.

        Args:
            source: What is read, in tokens.
        """
        spoken = self._language()
        chosen = template(self.template or self.settings.template, spoken)
        share = round(self.room * self.settings.share)
        tokens = min(chosen.tokens, self.settings.max_tokens, share, source // HALF)
        focus = " ".join(self.need.focus[:FOCUS].split())
        beside = "\n".join(self._beside())
        task = Task(chosen, tokens, spoken, tuple(self._tools()), focus, self._plan(), beside)
        return self.within(task, self.reader.window)

    def within(self, task: Task, window: int) -> Task:
        """Return the task with an account that a window, in tokens, has room for."""
        most = min(self.reader.output, window // QUARTER) / _length(task.template)
        return replace(task, tokens=min(task.tokens, int(most)))

    def cap(self, task: Task) -> int:
        """Return what the answer may take, a block to think in included, in tokens."""
        return int(task.tokens * _length(task.template))

    def capacity(self, task: Task, previous: int, window: int) -> int:
        """
        Return how much of the conversation one request can hold, in tokens.

        Args:
            task: What is asked.
            previous: What the account so far takes, in tokens.
            window: The reader's window, in tokens.
        """
        frame = compose(task, "", "…", more=True, problem="…" * 40)
        around = self.view.counter.text(frame.system) + self.view.counter.text(frame.text)
        return window - self.cap(task) - around - previous - round(MARGIN * window)

    def _language(self) -> Language | None:
        name = self.settings.language
        if name != "auto":
            return LANGUAGES.get(name.casefold(), Language("", name))
        return language(
            message.text
            for index, shown in enumerate(self.view.messages)
            if shown.is_spoken() and not is_snapshot(shown)
            for message in (self.view.original(index),)
        )

    def _tools(self) -> Iterator[str]:
        """Name the tools of the conversation; a name that could say something else is left out."""
        originals = (self.view.original(index) for index in range(len(self.view.messages)))
        names = dict.fromkeys(call.name for message in originals for call in message.calls)
        yield from [name for name in names if TOOL_NAME.fullmatch(name)][:TOOLS]

    def _beside(self) -> Iterator[str]:
        """Quote the task and the latest request, where they are not folded."""
        for index, reason in sorted(self.view.protected.items()):
            shown = self.view.messages[index]
            if reason in ("task", "latest") and shown.is_spoken():
                handle = handle_at(self.view, self.need, index)
                text = excerpt(shown.text, BESIDE, self.view.counter, handle=handle)
                yield f"[{handle} {shown.role}] {text}"

    def _plan(self) -> str:
        found = plan([self.view.original(position) for position in self.positions])
        return handle_at(self.view, self.need, self.positions[found.position]) if found else ""


def _length(chosen: Template) -> float:
    return SPARE + (SCRATCH if chosen.scratch else 0.0)
