"""Sources: the texts that a snapshot takes its statements from, each with who says it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from foldline.core.strategy import CompactionContext
from foldline.frozen import frozen, replace
from foldline.lazy import lazy_pattern
from foldline.outputs.wrapping import unwrap
from foldline.snapshot.calls import (
    LINE,
    brief_refusal,
    call_line,
    changes_something,
    long_arguments,
    split_stated,
    user_reply,
    verdict,
    without_unchanged,
)
from foldline.snapshot.commands import commit_message
from foldline.snapshot.file_changes import changes_nothing, is_refusal, written_whole
from foldline.snapshot.format import SnapshotRow, handle_at, parse
from foldline.snapshot.invocations import FETCHING, Invocation, Invocations, asks_agent
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.snapshot.plans import only_sets_plan
from foldline.values.call_arguments import parse_arguments
from foldline.values.frames import segments
from foldline.values.groups import Site
from foldline.values.messages import (
    AGENT_MESSAGE,
    Opaque,
    Text,
    ToolCall,
    ToolResult,
    visible_texts,
)
from foldline.values.observations import count_sentences, sample_lines
from foldline.values.part_text import result_text
from foldline.values.protect import is_snapshot
from foldline.values.snapshot_mark import split_snapshot
from foldline.values.tokens import CALL_TOKENS, MESSAGE_TOKENS
from foldline.values.view import View

Speaker: TypeAlias = Literal[
    "user",
    "reply",
    "rules",
    "document",
    "summary",
    "agent",
    "call",
    "change",
    "written",
    "draft",
    "report",
    "result",
    "superseded",
]
"""
Who says a text, or what it is: "reply" is what the user did or said to a call, "summary" an
earlier account, "change" a call that changes or runs something, "written" a text in a call,
"draft" a plan, or another one of sentences under headings, or the message of a commit, "report"
what another agent answered, "superseded" a result or text that was shown or written again later.
"""

PEOPLE: Final = ("user", "reply")
"""Who says a text that a person wrote."""

_THINKING = lazy_pattern(
    r"(?im)^[ \t]{0,64}+<(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection)>\n?"
    r"|</(?:think(?:ing)?|thoughts?|reasoning|scratchpad|reflection)>[ \t]{0,64}+$"
)
"""Tags around what some agents think aloud."""

GUIDE: Final = 2_000
_GUIDES: Final = lazy_pattern(r"\b(?:SKILL|AGENTS|CLAUDE|GEMINI|CONTRIBUTING)(?:\.local)?\.md\b")
"""Characters of a call that are searched for the files that instruct agents, and their names."""

WHOLE_RESULT, VERDICT = 254, 200
"""Characters of a result that is quoted whole with its call, and of what sums up a longer one."""

REPLY: Final = 800
"""Characters of a reply that stands in one row with its call."""

HEADINGS: Final = 4
"""Headings, and sentences, that a report has at least."""

CHOSEN_BEFORE: Final = 1.0
"""The recency of a row of an earlier snapshot: it was worth keeping among all that came before."""

USUAL_DENSITY: Final = 0.27
"""Tokens a character where nothing is known."""

SAME_FILE: Final = 0.5
"""Fraction of the lines of a file that was read again from which on its earlier text is stale."""

BEHIND: Final = 1_000_000
"""The place of what stands behind a snapshot in one message."""


@frozen
class SourceText:
    """
    A text that statements are taken from.

    ``step`` and ``place`` say where it stands: the position of its step in the view and the place
    in that. ``density`` is in tokens a character, ``recency`` from 0 to 1. Where ``whole`` the
    text is one statement; where ``named`` it stands with its handle in any case.
    """

    step: int
    place: int
    speaker: Speaker
    text: str
    handle: str
    density: float
    recency: float
    whole: bool = False
    named: bool = False

    @property
    def tokens(self) -> float:
        """About what the text takes, in tokens."""
        return len(self.text) * self.density


@frozen
class HistoryReading:
    """What `read` found: sources in order, and the state that an earlier snapshot listed."""

    sources: tuple[SourceText, ...]
    carried: Mapping[str, tuple[str, ...]]
    messages: int
    tokens: int


class _Reader:
    """Collects the sources of messages that are folded."""

    def __init__(
        self,
        view: View,
        context: CompactionContext,
        positions: Sequence[int],
        calls: Invocations,
        phrases: Phrases,
    ) -> None:
        self.view, self.context, self.phrases = view, context, phrases
        self.messages = view.history
        self.leader = {index: group.start for group in view.groups for index in group.members}
        self.folded = frozenset(positions)
        self.sources: list[SourceText] = []
        self.carried: dict[str, tuple[str, ...]] = {}
        self.count = self.tokens = 0
        self.calls, self.results = calls, calls.pairing.answers
        self.answered = {site: call for call, site in self.results.items()}
        self.covered = set[Site]()
        self.reads: dict[Site, tuple[str, str]] = {}
        self.shown: defaultdict[str, list[int]] = defaultdict(list)
        self.superseded = set[int]()

    def read(self, position: int) -> None:
        if is_snapshot(self.view.messages[position]):
            self._snapshot(position, self.view.messages[position].text)
            return
        message = self.messages[position]
        self.count += 1
        self.tokens += self.view.counts[position]
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                self._call(position, place, self.calls[Site(position, place)])
            elif isinstance(part, ToolResult):
                self._result(position, place, part)
            elif isinstance(part, Text):
                self._text(position, place, part.text)
            elif isinstance(part, Opaque) and part.kind == AGENT_MESSAGE:
                self._add(position, place, "report", part.text)

    def _add(
        self, position: int, place: int, speaker: Speaker, text: str, whole: bool = False
    ) -> None:
        if text.strip():
            step = self.leader[position]
            self.sources.append(
                SourceText(
                    step,
                    (position - step) * 1_000 + place,
                    speaker,
                    text,
                    handle_at(self.view, self.context, step),
                    self._density(position),
                    (position + 1) / len(self.messages),
                    whole,
                )
            )

    def _density(self, position: int) -> float:
        """Return how many tokens a character of a message takes, without its overhead."""
        visible = self.view.messages[position]
        if visible is not self.view.original(position):
            return USUAL_DENSITY
        characters = sum(map(len, visible_texts(visible)))
        overhead = MESSAGE_TOKENS + CALL_TOKENS * (len(visible.calls) + len(visible.results))
        return min(1.5, max(0.15, (self.view.counts[position] - overhead) / max(1, characters)))

    def _text(self, position: int, place: int, text: str) -> None:
        role = self.messages[position].role
        if role == "assistant":
            self._add(position, place, "agent", _THINKING.sub("", text) if "<" in text else text)
        else:
            kinds: dict[str, Speaker] = {"words": "user", "rules": "rules", "summary": "summary"}
            for segment in segments(text):
                if segment.kind == "summary" and split_snapshot(segment.text)[0]:
                    # A client merged what the user said next into the same message.
                    self._snapshot(position, segment.text)
                    place = BEHIND
                    continue
                self._add(position, place, kinds.get(segment.kind, "document"), segment.text)

    def _call(self, position: int, place: int, invocation: Invocation) -> None:
        call, site = invocation.call, self.results.get(Site(position, place))
        if only_sets_plan(call):
            # The newest plan is part of the state; older ones are superseded.
            self.covered.update(() if site is None else (site,))
            return
        arguments = without_unchanged(parse_arguments(call.arguments))
        if not asks_agent(call):  # What another agent is told is no remark.
            stated, arguments = split_stated(arguments)
            for text in stated:
                self._add(position, place, "agent", text)
        line = call_line(call, arguments, self.phrases)
        speaker: Speaker = "change" if changes_something(invocation) else "call"
        result = self.calls.result(Site(position, place))
        if site is not None and site.message in self.folded and result is not None:
            if reply := user_reply(call.name, result):
                self._reply(position, place, speaker, line, site, reply)
                return
            came = result_text(unwrap(result.text)).strip()
            if len(came) <= WHOLE_RESULT:
                self.covered.add(site)
            elif invocation.only_reads:
                self.reads[site] = (invocation.path, f"{call.name} {call.arguments}")
                came = ""
            else:
                came = self._outcome(speaker, came)[:VERDICT]
            line = f"{line}\n→ {came}" if came else line
        if site is None or not self._is_apart(position, site, call):
            self._add(position, place, speaker, line, whole=True)
        else:
            self._add(site.message, -1, speaker, line, whole=True)
        self._written(position, place, invocation, arguments, result)

    def _written(
        self,
        position: int,
        place: int,
        call: Invocation,
        arguments: Any,
        result: ToolResult | None,
    ) -> None:
        """Add the long texts of a call; a whole file takes the place of what was shown of it."""
        written = list(long_arguments(call.call.arguments if arguments is None else arguments))
        # Superseded by the report of another agent, or by what was written after all.
        is_answered = result is not None and asks_agent(call.call)
        if not written or is_answered or changes_nothing(call, result):
            return
        first = len(self.sources)
        message = commit_message(call.command)
        self._add(position, place, "draft", message)
        for text in written:
            if message in text and 2 * len(message) > len(text):
                continue  # a command that commits and does little else
            # A comment of a script begins like a heading of the first level.
            is_draft = "\n## " in text and is_report(text)
            self._add(position, place, "draft" if is_draft else "written", text)
        if path := written_whole(call, arguments, result):
            self.superseded.update(self.shown.pop(path, ()))
            self.shown[path] = [*range(first, len(self.sources))]

    def _is_apart(self, position: int, site: Site, call: ToolCall) -> bool:
        """
        Return True if the handle of a call is better that of its result, which is another one.

        So it is with a command in prose that stands whole in its row.
        """
        is_open = site.message in self.folded and site not in self.covered
        is_apart = self.leader[site.message] != self.leader[position]
        return is_open and is_apart and len(call.arguments) <= LINE

    def _outcome(self, speaker: Speaker, result: str) -> str:
        """Return what sums a long result up; a refusal without a mark is no more than a result."""
        refusal = brief_refusal(result) if speaker == "change" else ""
        return refusal if 0 < len(refusal) < len(result) else verdict(result)

    def _reply(
        self, position: int, place: int, speaker: Speaker, line: str, site: Site, reply: str
    ) -> None:
        """Let what was refused stand with what the user said to it, unless that is long."""
        self.covered.add(site)
        if len(reply) <= REPLY:
            self._add(position, place, "reply", f"{line}\n→ {reply}", whole=True)
        else:
            self._add(position, place, speaker, line, whole=True)
            self._add(site.message, site.part, "reply", reply)

    def _result(self, position: int, place: int, result: ToolResult) -> None:
        site = Site(position, place)
        if site in self.covered:
            return
        asked = self.answered.get(site)
        call = self.calls[asked].call if asked else ToolCall("", result.name, "")
        speaker: Speaker = "result"
        text = result_text(unwrap(result.text))
        if asks_agent(call) or (call.name == FETCHING and is_report(text)):
            speaker = "report"
        elif ".md" in (arguments := call.arguments[:GUIDE]) and _GUIDES.search(arguments):
            speaker = "document"
        number = len(self.sources)
        self._add(position, place, speaker, text)
        if number < len(self.sources) and site in self.reads:
            self._supersede(number, *self.reads[site], is_error=result.is_error)

    def _supersede(self, number: int, path: str, call: str, *, is_error: bool) -> None:
        """Take a result for the newest state of what the same call showed before."""
        text = self.sources[number].text
        if is_error or is_refusal(text):
            return
        lines = set(text.split("\n"))
        for earlier in self.shown[call]:
            known = self.sources[earlier].text.split("\n")
            # A file has changed; what a command printed is repeated, or it is another output.
            needed = SAME_FILE if path else 1.0
            if sum(map(lines.__contains__, known)) >= needed * len(known):
                self.superseded.add(earlier)
        self.shown[call] = [number]
        if path:
            self.shown[path].append(number)

    def _snapshot(self, position: int, text: str) -> None:
        """Take an earlier snapshot apart: its rows keep the handles that they stood behind."""
        earlier = parse(text)
        self.count += earlier.messages
        self.tokens += earlier.tokens
        self.carried.update(earlier.state)
        density, own = self._density(position), handle_at(self.view, self.context, position)
        for place, row in enumerate(earlier.rows):
            if row.text.strip():
                self.sources.append(_source(position, place, row, own, density))


def _source(
    position: int, place: int, row: SnapshotRow, handle: str, density: float
) -> SourceText:
    in_prose = row.speaker in ("summary", "agent", "user", "reply", "draft", "report")
    # A brief reply says nothing without the call before it.
    with_call = row.speaker == "reply" and "\n→ " in row.text and len(row.text) <= 2 * REPLY
    whole = with_call or not in_prose
    own, named = row.handle or handle, bool(row.handle)
    return SourceText(
        position, place, row.speaker, row.text, own, density, CHOSEN_BEFORE, whole, named
    )


def read(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
    calls: Invocations,
    phrases: Phrases = ENGLISH,
) -> HistoryReading:
    """
    Collect the texts that a snapshot is made of.

    Args:
        view: What the model sees.
        context: Handles.
        positions: The messages that are folded, in order; earlier snapshots are taken apart.
        calls: The calls of the whole history.
        phrases: The words that calls are written with.
    """
    reader = _Reader(view, context, positions, calls, phrases)
    for position in positions:
        reader.read(position)
    sources = tuple(
        replace(source, speaker="superseded") if number in reader.superseded else source
        for number, source in enumerate(reader.sources)
    )
    return HistoryReading(sources, reader.carried, reader.count, reader.tokens)


def is_report(text: str) -> bool:
    """Return True if a text is what a model or a person wrote under headings."""
    lines = sample_lines(text)
    if sum(line.startswith(("# ", "## ", "### ", "#### ", "**")) for line in lines) < HEADINGS:
        return False
    return count_sentences(lines) >= HEADINGS
