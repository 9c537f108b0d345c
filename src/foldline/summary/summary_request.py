"""Summary request: what a model is asked for, in which language, what it may read and write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from foldline.core.asks import ModelLimits
from foldline.core.strategy import CompactionContext
from foldline.core.summary_settings import SummarySettings
from foldline.frozen import frozen, replace
from foldline.relevance.language import Language
from foldline.snapshot.excerpt import excerpt
from foldline.snapshot.facts import plan
from foldline.snapshot.format import handle_at
from foldline.summary.history_rendering import fit_pieces, pieces
from foldline.summary.prompt import SLACK, SummaryTask, compose
from foldline.summary.templates import Template, template
from foldline.values.edits import Rewrite
from foldline.values.handles import Handles, Register
from foldline.values.protect import is_snapshot
from foldline.values.view import View

LEAST = 64
"""The least room worth asking for, in tokens."""

SPARE, SCRATCH = 1.25, 1.5
"""
How long the answer may come before the provider cuts it off, as a multiple of the account, and
what a block to think in may take besides.
"""

HALF = 2
"""An account takes at most this part of what it stands for: a longer one never pays."""

HEADER, STATE = 80, 0.08
"""
What the first line and the title of a snapshot take, in tokens, and its lists of facts, as a
fraction of its room: an account leaves that free.
"""

QUARTER = 4
"""The answer takes at most this part of the reader's window."""

MARGIN = 0.06
"""
Fraction of the reader's window that is kept free, since its tokenizer counts otherwise than ours:
what the estimate may be wrong by on a whole context (p95).
"""

TOOLS, TOOL_NAME = 60, re.compile(r"[\w.:/@-]{1,80}")
"""How many names of tools a request lists, and what is taken for one."""

_NAMED = re.compile(r"(?:^|\brecall )([0-9a-f]{6,32})\b", re.MULTILINE)

FOCUS = 2_000
"""Characters of a focus that a request has."""

CUT_SHARE = 0.2
"""Fraction of the reader's window that the full texts of shortened messages may take."""

BESIDE, BESIDE_SHARE = 300, 0.05
"""
Tokens of a message of the user that stays in sight, for a model that would not see it, and the
fraction of the reader's window that all of them may take.
"""


@frozen
class SummaryRequest:
    """
    An account that a model is asked for.

    ``positions`` are the messages that it stands for, ``room`` is what the snapshot may take in
    tokens. ``cuts`` are the messages that stay but are shortened: the account carries over what
    the user asks in them.
    ``language`` is that of the account, None where it is not known.
    """

    view: View
    context: CompactionContext
    reader: ModelLimits
    positions: Sequence[int]
    room: int
    cuts: Sequence[Rewrite] = ()
    language: Language | None = None

    @property
    def settings(self) -> SummarySettings:
        """How the model is asked."""
        return self.context.summary

    def task(self, source: int) -> SummaryTask:
        """
        Say what is asked of a source.

        The account may take its share of the room, and what the snapshot around it leaves free;
        a little less is asked for, since models do not count.

        Args:
            source: What is read, in tokens.
        """
        chosen = template(self.settings.template, self.language)
        around = HEADER + round(STATE * self.room)
        share = round(self.room * self.settings.share)
        most = min(share, max(0, self.room - around), source // HALF)
        if self.settings.max_tokens is not None:
            most = min(most, self.settings.max_tokens)
        task = SummaryTask(
            chosen,
            int(most / SLACK),
            self.language,
            tuple(self._tools()),
            " ".join(self.context.focus[:FOCUS].split()),
            self._plan(),
            "\n".join(self._write_shortened()),
            *self._beside(),
        )
        return self.within(task, self.reader.window)

    def cut_tokens(self) -> int:
        """Count what the shortened messages hold, in tokens: the account stands for it too."""
        return sum(piece.tokens for piece in pieces(self.view, self.context, self._cut()))

    def within(self, task: SummaryTask, window: int) -> SummaryTask:
        """Return the task with an account that a window, in tokens, has room for."""
        most = min(self.reader.output, window // QUARTER) / _length(task.template)
        return replace(task, tokens=min(task.tokens, int(most / SLACK)))

    def cap(self, task: SummaryTask) -> int:
        """Return what the answer may take, a block to think in included, in tokens."""
        return int(task.limit * _length(task.template))

    def capacity(self, task: SummaryTask, previous: int, window: int) -> int:
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

    def _tools(self) -> Iterator[str]:
        """Name the tools of the conversation; a name that could say something else is left out."""
        originals = (self.view.original(index) for index in range(len(self.view.messages)))
        names = dict.fromkeys(call.name for message in originals for call in message.calls)
        yield from [name for name in names if TOOL_NAME.fullmatch(name)][:TOOLS]

    def _cut(self) -> list[int]:
        """Return the positions of the messages that are shortened."""
        positions, folded = self.view.positions, set(self.positions)
        found = {positions[cut.message] for cut in self.cuts if cut.message in positions}
        return sorted(found - folded)

    def _write_shortened(self) -> list[str]:
        """Write out what is shortened: first of all the messages of the user, whole."""
        view, left = self.view, round(CUT_SHARE * self.reader.window)
        found, cut = list[str](), self._cut()
        for from_user in (True, False):
            positions = [at for at in cut if view.messages[at].is_from_user() == from_user]
            texts = pieces(view, self.context, positions)
            if texts and left > LEAST:
                texts = fit_pieces(texts, view.counter, view.names, left, left)
                left -= sum(piece.tokens for piece in texts)
                found += [piece.read() for piece in texts]
        return found

    def _beside(self) -> tuple[str, tuple[str, str, int] | None]:
        """Quote what the user said that stays whole, and name what stays besides."""
        view, changed = self.view, {*self.positions, *self._cut()}
        whole = [index for index in range(len(view.messages)) if index not in changed]
        user_positions = [
            i
            for i in whole
            if view.messages[i].is_from_user() and not is_snapshot(view.messages[i])
        ]
        quoted, left = dict[int, str](), round(BESIDE_SHARE * self.reader.window)
        for index in sorted(user_positions, key=lambda i: (i not in view.protected, -i)):
            handle, visible = handle_at(view, self.context, index), view.messages[index]
            text = excerpt(visible.text, min(BESIDE, left), view.counter, handle=handle)
            left -= view.counter.text(text)
            if left < 0:
                break
            quoted[index] = f"[{handle} {visible.role}] {text}"
        names = [handle_at(view, self.context, index) for index in whole if index not in quoted]
        others = (names[0], names[-1], len(names)) if names else None
        return "\n".join(quoted[index] for index in sorted(quoted)), others

    def _plan(self) -> str:
        found = plan([self.view.original(position) for position in self.positions])
        return handle_at(self.view, self.context, self.positions[found.position]) if found else ""


def known_handles(view: View, context: CompactionContext) -> Callable[[str], bool]:
    """
    Return what says whether digits are a handle.

    They are if the id of a message begins with them, or an earlier snapshot names them: what it
    stands for may lie in an archive only.
    """
    known = context.handles
    register = known if isinstance(known, Handles) else Register(known)
    earlier = {
        handle
        for message in view.messages
        if is_snapshot(message)
        for handle in _NAMED.findall(message.text)
    }
    return lambda digits: digits in earlier or bool(register.near(digits))


def _length(chosen: Template) -> float:
    return SPARE + (SCRATCH if chosen.scratch else 0.0)
