"""Summary request: the content of a request for an account, its language and its limits."""

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
"""Minimum size of an account that is worth a request, in tokens."""

SPARE, SCRATCH = 1.25, 1.5
"""
Output limit of the request, as a multiple of the account, and what a block for thinking adds.
"""

HALF = 2
"""Divisor of the size of the folded messages: a longer account never pays."""

HEADER, STATE = 80, 0.08
"""
Size of the first line and the title of a snapshot, in tokens, and of its lists of facts, as a
fraction of its room: an account leaves this room free.
"""

QUARTER = 4
"""Divisor of the summarizer's window: the maximum size of the answer."""

MARGIN = 0.06
"""
Fraction of the summarizer's window that is left free, because its tokenizer differs from the local
counter: the error of the estimate on a whole context (p95).
"""

TOOLS, TOOL_NAME = 60, re.compile(r"[\w.:/@-]{1,80}")
"""Maximum number of tool names in a request, and the pattern of a name."""

_NAMED = re.compile(r"(?:^|\brecall )([0-9a-f]{6,32})\b", re.MULTILINE)

FOCUS = 2_000
"""Maximum characters of a focus in a request."""

CUT_SHARE = 0.2
"""Fraction of the summarizer's window that the full texts of shortened messages may take."""

BESIDE, BESIDE_SHARE = 300, 0.05
"""
Maximum tokens of each user message that stays in view and is quoted for the summarizer, and the
fraction of the summarizer's window that all of them may take.
"""


@frozen
class SummaryRequest:
    """
    A request for an account.

    ``positions`` are those of the messages that it replaces, ``room`` is the maximum size of the
    snapshot in tokens. ``cuts`` shorten messages that stay: the account includes the user's
    requests in them. ``language`` is that of the account, None if unknown.
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
        """The settings of summaries."""
        return self.context.summary

    def task(self, source: int) -> SummaryTask:
        """
        Return the instructions for an account of a source.

        The account may take its share of the room, as far as the rest of the snapshot leaves it;
        a little less is requested, because models do not count.

        Args:
            source: Size of the messages to read, in tokens.
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
        """Return the tokens of the shortened messages: the account covers them, too."""
        return sum(piece.tokens for piece in pieces(self.view, self.context, self._cut()))

    def within(self, task: SummaryTask, window: int) -> SummaryTask:
        """Return the task with an account that fits a window, in tokens."""
        most = min(self.reader.output, window // QUARTER) / _length(task.template)
        return replace(task, tokens=min(task.tokens, int(most / SLACK)))

    def cap(self, task: SummaryTask) -> int:
        """Return the output limit, in tokens, including a block for thinking."""
        return int(task.limit * _length(task.template))

    def capacity(self, task: SummaryTask, previous: int, window: int) -> int:
        """
        Return how much of the conversation one request can hold, in tokens.

        Args:
            task: The instructions.
            previous: Size of the account so far, in tokens.
            window: The summarizer's window, in tokens.
        """
        frame = compose(task, "", "…", more=True, problem="…" * 40)
        around = self.view.counter.text(frame.system) + self.view.counter.text(frame.text)
        return window - self.cap(task) - around - previous - round(MARGIN * window)

    def _tools(self) -> Iterator[str]:
        """Yield the tool names of the conversation, except those that could hold other text."""
        originals = (self.view.original(index) for index in range(len(self.view.messages)))
        names = dict.fromkeys(call.name for message in originals for call in message.calls)
        yield from [name for name in names if TOOL_NAME.fullmatch(name)][:TOOLS]

    def _cut(self) -> list[int]:
        """Return the positions of the messages that are shortened."""
        positions, folded = self.view.positions, set(self.positions)
        found = {positions[cut.message] for cut in self.cuts if cut.message in positions}
        return sorted(found - folded)

    def _write_shortened(self) -> list[str]:
        """Return the full texts of shortened messages, those of the user first."""
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
        """Quote the user messages that stay whole, and name the other messages that stay."""
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
    Return a function that returns True if digits are a handle.

    They are if the id of a message begins with them, or if an earlier snapshot names them: its
    messages may be only in an archive.
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
