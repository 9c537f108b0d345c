"""
State: how things stand after the folded messages, read off them without a model.

What came of every request, the plan, the files that were changed, the last result of what can
fail, what is still broken, what was tried in vain, and the next step if one was named.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from foldline.core.strategy import CompactionContext
from foldline.frozen import frozen
from foldline.lazy import lazy_pattern
from foldline.outputs.wrapping import unwrap
from foldline.relevance.alarms import lines_with
from foldline.snapshot import facts, file_changes
from foldline.snapshot import phrases as titles
from foldline.snapshot.calls import printed_verdict, verdict
from foldline.snapshot.commands import brief_command
from foldline.snapshot.format import handle_at, indent, one_line
from foldline.snapshot.invocations import Invocations
from foldline.snapshot.phrases import ENGLISH, Phrases, operation, plan_row
from foldline.snapshot.plans import is_done
from foldline.snapshot.requests import Requests
from foldline.snapshot.statements import sentences, shorten
from foldline.snapshot.worth import Judge
from foldline.values.messages import Message, Text
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

ANSWER: Final = 220
"""Characters of a statement of the agent."""

COMMANDS, COMMAND, VERDICT = 12, 100, 160
"""How many commands are listed with their last result, and characters of both."""

ERRORS: Final = 8

VAIN: Final = 10
"""How many statements are listed of what was tried in vain."""

_VAIN = lazy_pattern(
    r"\b(?:did(?:n't| not) (?:work|help|fix|change anything)|had no effect|in vain|dead end"
    r"|(?:that|this|it|which|fix|change|approach|attempt|workaround) (?:still )?"
    r"(?:does(?:n't| not)|won't) (?:work|help|fix)"
    r"|still (?:fail(?:s|ed|ing)?|broken)|gave up|ruled out"
    r"|(?:isn't|wasn't|(?:is|was) not) the (?:cause|problem|issue|culprit)"
    r"|wrong (?:approach|assumption))\b"
    r"|没有(?:用|效果)|不起作用|仍然失败",
    re.IGNORECASE,
)
_VAIN_NEEDLES: Final = (
    *("did not ", "didn't ", "does not ", "doesn't ", "won't ", "no effect", "in vain"),
    *("isn't the ", "wasn't the ", "is not the ", "was not the ", "dead end", "still "),
    *("gave up", "ruled out", "wrong a", "没有", "不起作用", "仍然失败"),
)
"""One of these, in lower case, stands in everything that `_VAIN` finds."""

_REFERS = lazy_pattern(r"(?:but|and|still|it|that|this|actually)\b", re.IGNORECASE)
_SUPPOSED = lazy_pattern(
    r"\b(?:if|when|whether|unless|until|in case|should|would|could|might|may|must|make sure|ensure"
    r"|verify|let me|let['’]s|i['’]ll|once)\b|\?\s*$|如果|是否",
    re.IGNORECASE,
)
_NEXT = lazy_pattern(
    r"\b(?:next(?: step)?s?\b[:,]|remaining\b|still (?:need|to do|open)|todo\b"
    r"|now (?:let me|i(?:'ll| will| need))|i(?:'ll| will) (?:now )?\w+"
    r"|let me (?:now )?(?:run|fix|add|write|update|create|implement|test|verify))"
    r"|下一步|接下来|待办",
    re.IGNORECASE,
)


NEWEST_FIRST: Final = (titles.REQUESTS, titles.FAILED)
"""Sections whose newest rows, the last ones, are the last to be left out."""


LEFT_OUT_TOKENS: Final = 10
"""What the title takes of a section all of whose lines are left out, with how many these are."""


@frozen
class SnapshotState:
    """The sections of a snapshot that say how things stand: name and finished lines."""

    sections: tuple[tuple[str, tuple[str, ...]], ...]

    def within(
        self, tokens: float, counter: TokenCounter, phrases: Phrases = ENGLISH
    ) -> SnapshotState:
        """
        Return as much of it as fits.

        Args:
            tokens: What it may take.
            counter: What counts.
            phrases: The words of its language.
        """
        sections = [(title, lines, set[int]()) for title, lines in self.sections if lines]
        sizes = {line: counter.text(line) + 1 for _, lines, _ in sections for line in lines}
        mark = counter.text(phrases.left_out) + 1
        left = tokens
        one, every = [1] * len(sections), [len(lines) for _, lines, _ in sections]
        unfinished = [
            _count_open(lines) if title == titles.PLAN else 1 for title, lines, _ in sections
        ]
        even = range(len(sections), 0, -1)
        # The first row of each, the open plan, of each its share, and then what else fits.
        for counts, shares in ((one, one), (unfinished, one), (every, even), (every, one)):
            for count, share, (title, lines, chosen) in zip(counts, shares, sections, strict=True):
                room = left / share
                for number in _in_order(title, lines)[:count]:
                    needed = sizes[lines[number]]
                    if not chosen:
                        needed += counter.text(phrases.titles[title]) + 2
                        needed += mark if len(lines) > 1 else 0
                    is_headless = title == titles.PLAN and number > 0 and not chosen
                    if number not in chosen and needed <= room and not is_headless:
                        chosen.add(number)
                        room, left = room - needed, left - needed
        kept = []
        for title, lines, chosen in sections:
            left -= 0 if chosen else LEFT_OUT_TOKENS
            if chosen or left >= 0:
                kept.append((title, _with_mark(title, lines, chosen, phrases)))
        kept.sort(key=lambda section: titles.STATE.index(section[0]))
        return SnapshotState(tuple(kept))


def _count_open(plan: Sequence[str]) -> int:
    """Return how many lines at the beginning of a plan count its steps or are not done."""
    return sum(not is_done(line.strip()) for line in plan)


def _in_order(title: str, lines: Sequence[str]) -> Sequence[int]:
    """Return the numbers of the lines of a section, the last to be left out first."""
    numbers = range(len(lines))
    return numbers[::-1] if title in NEWEST_FIRST else numbers


def _with_mark(
    title: str, lines: Sequence[str], chosen: Collection[int], phrases: Phrases
) -> tuple[str, ...]:
    """Return the chosen lines of a section, with how many are left out where these would be."""
    kept = tuple(lines[number] for number in sorted(chosen))
    if len(kept) == len(lines):
        return kept
    mark = phrases.left_out.replace("{count}", f"{len(lines) - len(kept):,}")
    return (mark, *kept) if title in NEWEST_FIRST else (*kept, mark)


def state(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
    calls: Invocations,
    carried: Mapping[str, tuple[str, ...]],
    judge: Judge,
    phrases: Phrases = ENGLISH,
) -> SnapshotState:
    """
    Read off how things stand.

    Args:
        view: What the model sees.
        context: Handles.
        positions: The messages that are folded.
        calls: The calls of the whole history.
        carried: The same sections of an earlier snapshot that is folded too.
        judge: Says what statements are worth.
        phrases: The words of its language.
    """
    folded = frozenset(positions)
    found = _Found(view, context, folded, calls, phrases)
    requests = Requests(view, context, folded, judge, phrases)
    errors, results = found.results()
    # What an earlier snapshot says was failing may have passed by now, which its rows tell.
    return SnapshotState(
        (
            (titles.PLAN, found.plan(carried.get(titles.PLAN, ()))),
            (titles.FAILING, tuple(errors)),
            (titles.NEXT, tuple(found.next_step())),
            (titles.FILES, found.all_files(carried.get(titles.FILES, ()))),
            (titles.REQUESTS, requests.rows(carried.get(titles.REQUESTS, ()))),
            (titles.RESULTS, tuple(results)),
            (titles.FAILED, (*carried.get(titles.FAILED, ())[-VAIN:], *found.vain())),
        )
    )


class _Found:
    """What the folded messages say about one thing after another."""

    def __init__(
        self,
        view: View,
        context: CompactionContext,
        folded: frozenset[int],
        calls: Invocations,
        phrases: Phrases,
    ) -> None:
        self.view, self.context, self.folded, self.phrases = view, context, folded, phrases
        self.calls = calls
        self.messages = view.history
        self.old = [m if i in folded else Message(m.role, ()) for i, m in enumerate(self.messages)]

    def _handle(self, position: int) -> str:
        return handle_at(self.view, self.context, position)

    # --- plan, files ---------------------------------------------------------------------

    def plan(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """Return the newest plan, that of an earlier snapshot or one with what is done last."""
        newest = facts.plan(self.messages)
        if newest is None:
            return tuple(plan_row(row, self.phrases) for row in earlier)
        if newest.position not in self.folded:
            return ()
        done = [line for line in newest.lines if is_done(line)]
        steps = self.phrases.steps.replace("{done}", str(len(done)))
        title = f"{self._handle(newest.position)} {steps.replace('{all}', str(len(newest.lines)))}"
        still = (line for line in newest.lines if line not in done)
        return (title, *(f" {line}" for line in (*still, *done)))

    def all_files(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """List the files that were changed, those of an earlier snapshot too."""
        done: dict[str, str] = {}
        known = dict(listed_files(earlier))
        for path, what in (*known.items(), *self.files(known)):
            done.pop(path, None)
            done[path] = operation(what, self.phrases)
        return tuple(file_rows(done))

    def files(self, known: Container[str] = ()) -> Iterator[tuple[str, str]]:
        """Yield the files that were changed, none that came and went, with what was done."""
        done: dict[str, list[str]] = {}
        for fact in file_changes.changes(self.calls, sorted(self.folded)):
            done.setdefault(fact.path, []).append(fact.operation)
        for path, operations in done.items():
            came, last = operations[0], operations[-1]
            is_new = came in ("created", "written") and path not in known
            if is_new and last == "deleted":
                continue
            outcome = came if came == "created" and last != "deleted" else last
            count = operations.count(outcome)
            yield one_line(path), f"{outcome} ×{count}" if count > 1 else outcome

    # --- results -------------------------------------------------------------------------

    def results(self) -> tuple[list[str], list[str]]:
        """Return what is still failing, and the last result of every command that can fail."""
        # What failed may have passed by now, in what stays.
        findings = [
            finding
            for finding in facts.open_errors(self.calls, ERRORS)
            if finding.position in self.folded
        ]
        failing = {finding.position for finding in findings}
        errors = [self._failing(finding) for finding in findings]
        return errors, list(islice(self._last_results(failing), COMMANDS))

    def _last_results(self, failing: Container[int]) -> Iterator[str]:
        """Yield what commands said last that can fail, the newest first."""
        seen = set[str]()
        for call, site, result in self.calls.newest_first():
            # What a command said before is out of date, also where it says nothing now.
            if not call.command or (key := call.run_key) in seen:
                continue
            seen.add(key)
            if site.message not in self.folded or site.message in failing or call.only_shows:
                continue
            output = unwrap(result.text)
            if verdict_line := printed_verdict(verdict(output), output):
                command = shorten(one_line(brief_command(call.command, self.phrases)), COMMAND)
                yield f"{ITEM}{command} → {shorten(one_line(verdict_line), VERDICT)}"

    def _failing(self, finding: facts.Finding) -> str:
        aim = one_line(brief_command(finding.aim, self.phrases))
        command = f"{shorten(aim, COMMAND)} → " if aim else ""
        lines = indent("\n".join(finding.lines))
        return f"{self._handle(finding.position)} {command}{lines}"

    # --- what did not work, what comes next ----------------------------------------------

    def vain(self) -> list[str]:
        """Return the newest statements about what was tried and did not work."""
        found: dict[str, str] = {}
        for index in range(len(self.old) - 1, -1, -1):
            message = self.old[index]
            if message.role != "assistant" or len(found) >= VAIN:
                continue
            lowered = message.text.lower()
            if not any(map(lowered.__contains__, _VAIN_NEEDLES)):
                continue
            long_sentences = _long_sentences(message)
            for number in sorted(lines_with(list(map(str.lower, long_sentences)), _VAIN_NEEDLES)):
                sentence = long_sentences[number]
                if _VAIN.search(sentence) and not _SUPPOSED.search(sentence):
                    # "It did not work." needs the sentence before.
                    start = number - 1 if number and _REFERS.match(sentence) else number
                    text = one_line(" ".join(long_sentences[start : number + 1]))
                    found.setdefault(text, f"{self._handle(index)} {shorten(text, ANSWER)}")
                    break
        return list(found.values())[::-1]

    def next_step(self) -> Iterator[str]:
        """Yield the last sentence of the agent that names what comes next."""
        for index in range(len(self.messages) - 1, -1, -1):
            message = self.messages[index]
            if message.role == "assistant" and message.text.strip():
                if index not in self.folded:
                    return
                named = [s for s in _long_sentences(message) if _NEXT.search(s)]
                if named:
                    yield self.phrases.marks["agent"] + shorten(one_line(named[-1]), ANSWER)
                return


def _long_sentences(message: Message) -> list[str]:
    text = "\n".join(part.text[:20_000] for part in message.parts if isinstance(part, Text))
    return [sentence for sentence in sentences(text) if len(sentence) > 20]


FOLDER, FILES_A_FOLDER = 3, 12
"""From how many files on their folder stands but once, and how many stand in a line then."""

ITEM: Final = "- "
"""How rows begin that have no handle: what follows, a command or a path, could pass for a row."""

_SEPARATOR = lazy_pattern("[,:] ")


def listed_files(earlier: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the files that an earlier snapshot lists, with what was done to each."""
    for line in (row.removeprefix(ITEM) for row in earlier):
        folder, _, listed = line.partition(": ") if ": " in line else ("", "", line)
        for item in listed.split(", "):
            name, _, what = item.rpartition(" (")
            path = posixpath.join("" if folder == "." else folder, name or item)
            yield path, what.removesuffix(")") if name else ""


def file_rows(done: Mapping[str, str]) -> list[str]:
    """Write files with what was done to them: by folder, or below the one of all, if shorter."""
    by_folder = list(_by_folder(done))
    below = list(_below_one(done))
    return below if below and sum(map(len, below)) < sum(map(len, by_folder)) else by_folder


def _by_folder(done: Mapping[str, str]) -> Iterator[str]:
    folders: dict[str, list[str]] = {}
    for path, what in done.items():
        folder, name = posixpath.split(path)
        folders.setdefault(folder or ".", []).append(_item(name, what))
    for folder, names in folders.items():
        single = len(names) < FOLDER and not any(_SEPARATOR.search(name) for name in names)
        if single and folder != "." and not _SEPARATOR.search(folder):
            yield from (ITEM + posixpath.join(folder, name) for name in names)
            continue
        yield from _rows(folder, names)


def _below_one(done: Mapping[str, str]) -> Iterator[str]:
    folders = {posixpath.dirname(path) for path in done}
    apart = all(path.startswith("/") and not _SEPARATOR.search(path) for path in done)
    root = posixpath.commonpath(folders) if len(done) > 1 and apart else ""
    if len(root) > 1:
        items = [_item(posixpath.relpath(path, root), what) for path, what in done.items()]
        yield from _rows(root, items)


def _item(name: str, what: str) -> str:
    return f"{name} ({what})" if what else name


def _rows(folder: str, names: Sequence[str]) -> Iterator[str]:
    for start in range(0, len(names), FILES_A_FOLDER):
        yield f"{ITEM}{folder}: {', '.join(names[start : start + FILES_A_FOLDER])}"
