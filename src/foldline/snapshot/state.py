"""
State: how things stand after the folded messages, read off them without a model.

What came of every request, the plan, the files that were changed, the last result of what can
fail, what is still broken, what was tried in vain, and the next step if one was named.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from foldline.core.strategy import CompactionContext
from foldline.lazy_patterns import lazy_pattern
from foldline.snapshot import facts
from foldline.snapshot import phrases as titles
from foldline.snapshot.announcements import is_chatter
from foldline.snapshot.calls import brief_command, printed_verdict, verdict
from foldline.snapshot.commands import command_of, only_shows, run_key
from foldline.snapshot.file_rows import ITEM, file_rows, listed_files
from foldline.snapshot.format import handle_at, indent, one_line
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.snapshot.phrasing import operation, plan_row, request_row
from foldline.snapshot.plans import is_done
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import SENTENCE_END, prose
from foldline.snapshot.worth import Judge
from foldline.values.frames import user_words
from foldline.values.groups import Site
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.observations import without_action
from foldline.values.protect import is_snapshot
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

REQUESTS_SHOWN, REQUEST, ANSWER = 12, 90, 220
"""How many of the newest requests are listed, and characters of each and of what came of it."""

COMMANDS, COMMAND, VERDICT = 6, 100, 160
"""How many commands are listed with their last result, and characters of both."""

CODE: Final = 60
"""Characters of a block of code that an answer shows."""

ERRORS: Final = 4

NOTHING: Final = -1
"""The place of a statement that there is not."""

INTERRUPTED: Final = "[Request interrupted by user"
"""How a client reports in the user's name that the user stopped it."""

OUTCOME: Final = 1.5
"""How much more a statement tells what came of a request that has a word of outcomes."""

VAIN: Final = 5
"""How many statements are listed of what was tried in vain."""

_OUTCOME = lazy_pattern(
    r"\b(?:done|fixed|added|removed|created|updated|changed|implemented|complete\w*|pass(?:es|ed)?"
    r"|works?|fail\w*|found|because|cannot|can't|should|is now|are now|root cause|conclusion)\b"
    r"|完成|修复|已|失败|通过|原因|✅|❌",
    re.IGNORECASE,
)
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
_FENCED = lazy_pattern(
    r"^[ \t]*```[^\n]*\s*([^\n]*)(.*?)(?:^[ \t]*```[ \t]*$\s*|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
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
        left, kept = tokens, []
        for title, lines in self.sections:
            chosen: list[str] = []
            newest_first = title in (titles.REQUESTS, titles.FAILED)
            for line in reversed(lines) if newest_first else lines:
                needed = counter.text(line) + 1
                needed += 0 if chosen else counter.text(phrases.titles[title]) + 2
                if needed <= left:
                    chosen.append(line)
                    left -= needed
            missing = len(lines) - len(chosen)
            if missing and chosen:
                chosen.append(phrases.left_out.replace("{count}", f"{missing:,}"))
            kept.append((title, tuple(reversed(chosen) if newest_first else chosen)))
        return SnapshotState(
            tuple(sorted(kept, key=lambda section: titles.STATE.index(section[0])))
        )


def state(
    view: View,
    context: CompactionContext,
    positions: Sequence[int],
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
        carried: The same sections of an earlier snapshot that is folded too.
        judge: Says what statements are worth.
        phrases: The words of its language.
    """
    found = _Found(view, context, frozenset(positions), judge, phrases)
    errors, results = found.results()
    # What an earlier snapshot says was failing may have passed by now, which its rows tell.
    return SnapshotState(
        (
            (titles.PLAN, tuple(found.plan()) or found.carried_plan(carried)),
            (titles.FAILING, tuple(errors)),
            (titles.NEXT, tuple(found.next_step())),
            (titles.FILES, found.all_files(carried.get(titles.FILES, ()))),
            (titles.REQUESTS, found.all_requests(carried.get(titles.REQUESTS, ()))),
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
        judge: Judge,
        phrases: Phrases,
    ) -> None:
        self.view, self.context, self.folded, self.judge = view, context, folded, judge
        self.phrases = phrases
        self.messages = view.original_messages
        self.observed = view.observed
        self.old = [m if i in folded else Message(m.role, ()) for i, m in enumerate(self.messages)]

    def _handle(self, position: int) -> str:
        return handle_at(self.view, self.context, position)

    # --- requests ------------------------------------------------------------------------

    def all_requests(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """List the requests of an earlier snapshot too; what was last said of one counts."""
        newer = self.requests()
        last = len(earlier) - 1 if not newer else -1
        found: dict[str, str] = {}
        for number, row in enumerate(earlier):
            row = request_row(row, self.phrases, is_latest=number == last)
            found[row.partition(" ")[0]] = row
        for row in newer:
            handle = row.partition(" ")[0]
            found.pop(handle, None)
            found[handle] = row
        return tuple(found.values())

    def requests(self) -> list[str]:
        """List the requests of the user, each with the last statement before the next one."""
        asked = [
            (index, words)
            for index, message in enumerate(self.messages)
            if message.role == "user" and index not in self.observed
            if not is_snapshot(self.view.messages[index])
            if (words := one_line(user_words(message))) and _asks(words)
        ]
        found, before = [], set[str]()
        for number, (index, words) in enumerate(asked):
            end = asked[number + 1][0] if number + 1 < len(asked) else len(self.messages)
            between = range(index + 1, end)
            if index in self.folded or not self.folded.isdisjoint(between):
                latest = number + 1 == len(asked)
                said, answer = self._answer(between, latest=latest)
                if index not in self.folded and said not in (*self.folded, NOTHING):
                    continue  # The reader sees both.
                if said == NOTHING and not latest and words in before:
                    continue  # A client stated it again, such as after a compaction of its own.
                before.add(words)
                whole = "" if index in self.folded else self.phrases.beside
                found.append(f"{self._handle(index)} “{_cut(words, REQUEST)}”{whole}{answer}")
        return found[-REQUESTS_SHOWN:]

    def _answer(self, between: range, *, latest: bool) -> tuple[int, str]:
        """Return where a statement stands that says best what came of a request, and a row."""
        announced, place = "", NOTHING
        for index in reversed(between):
            message = self.messages[index]
            text = message.text if message.role == "assistant" else ""
            if self.observed:
                text = without_action(text)[0]
            if text.strip():
                answer = one_line(self._telling(text[:20_000]))
                working = latest and bool(message.calls or announced)
                came = self.phrases.working if working else self.phrases.answered
                row = f"{came}{_cut(answer, ANSWER)}"
                if not is_chatter(answer) and not answer.endswith((":", "：")):
                    return index, row
                # What it says next tells nothing; an earlier statement may.
                announced, place = (announced, place) if announced else (row, index)
        return place, announced or (self.phrases.silent if latest else self.phrases.unanswered)

    def _telling(self, text: str) -> str:
        """Return the statement of an answer that is worth the most, whole if it is short."""
        said = _FENCED.sub(_code_line, text)
        text = said if said.strip() else text
        source = SourceText(0, 0, "agent", text, "", 0.25, 1.0)
        pieces = prose(text)
        ranked = [
            worth * (OUTCOME if _OUTCOME.search(text, *piece) else 1.0)
            for piece, worth in zip(pieces, self.judge.worths(source, pieces), strict=True)
        ]
        best = pieces[ranked.index(max(ranked))]
        sentences = _sentences(text[slice(*best)])
        first = next((n for n, s in enumerate(sentences) if _OUTCOME.search(s)), 0)
        return " ".join(sentences[first:])

    # --- plan, files ---------------------------------------------------------------------

    def plan(self) -> Iterator[str]:
        """Yield the newest plan with its ids; what is done comes in one line."""
        newest = facts.plan(self.messages)
        if newest is None or newest.position not in self.folded:
            return
        handle = self._handle(newest.position)
        done = [line for line in newest.lines if is_done(line)]
        steps = self.phrases.steps.replace("{done}", str(len(done)))
        yield f"{handle} {steps.replace('{all}', str(len(newest.lines)))}"
        yield from (f" {line}" for line in newest.lines if line not in done)
        yield from (f" {line}" for line in done)

    def carried_plan(self, carried: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """Return the plan of an earlier snapshot, unless there is a newer one."""
        if facts.plan(self.messages):
            return ()
        return tuple(plan_row(row, self.phrases) for row in carried.get(titles.PLAN, ()))

    def all_files(self, earlier: Sequence[str]) -> tuple[str, ...]:
        """List the files that were changed, those of an earlier snapshot too."""
        done: dict[str, str] = {}
        for path, what in (*listed_files(earlier), *self.files()):
            done.pop(path, None)
            done[path] = operation(what, self.phrases)
        return tuple(file_rows(done))

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield the files that were changed, with what was done to each."""
        done: dict[str, list[str]] = {}
        pairing = self.view.original_pairing
        for fact in facts.changes(self.messages, pairing, sorted(self.folded)):
            done.setdefault(fact.path, []).append(fact.operation)
        for path, operations in done.items():
            times = f" ×{len(operations)}" if len(operations) > 1 else ""
            yield one_line(path), f"{operations[-1]}{times}"

    # --- results -------------------------------------------------------------------------

    def results(self) -> tuple[list[str], list[str]]:
        """Return what is still failing, and the last result of every command that can fail."""
        # What failed may have passed by now, in what stays.
        findings = [
            finding
            for finding in facts.open_errors(self.messages, ERRORS, self.view.original_pairing)
            if finding.position in self.folded
        ]
        failing = {finding.position for finding in findings}
        errors = [self._failing(finding) for finding in findings]
        return errors, list(islice(self._last_results(failing), COMMANDS))

    def _last_results(self, failing: Container[int]) -> Iterator[str]:
        """Yield what commands said last that can fail, the newest first."""
        newest: dict[str, tuple[str, Site]] = {}
        for call, result in self.view.original_pairing.answers.items():
            part = self.messages[call.message].parts[call.part]
            if isinstance(part, ToolCall):
                command = command_of(facts.arguments_of(part))
                key = run_key(command)
                # What a command said before is out of date, also where it says nothing now.
                newest.pop(key, None)
                newest[key] = command, result
        for command, site in reversed(newest.values()):
            came = self.messages[site.message].parts[site.part]
            hidden = site.message not in self.folded or site.message in failing
            if hidden or not command or only_shows(command) or not isinstance(came, ToolResult):
                continue
            if said := printed_verdict(verdict(came.text), came.text):
                shown = _cut(one_line(brief_command(command, self.phrases)), COMMAND)
                yield f"{ITEM}{shown} → {_cut(one_line(said), VERDICT)}"

    def _failing(self, finding: facts.Finding) -> str:
        aim = one_line(brief_command(finding.aim, self.phrases))
        command = f"{_cut(aim, COMMAND)} → " if aim else ""
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
            if not any(needle in lowered for needle in _VAIN_NEEDLES):
                continue
            sentences = _long_sentences(message)
            for number, sentence in enumerate(sentences):
                if _VAIN.search(sentence) and not _SUPPOSED.search(sentence):
                    # "It did not work." needs the sentence before.
                    start = number - 1 if number and _REFERS.match(sentence) else number
                    text = one_line(" ".join(sentences[start : number + 1]))
                    found.setdefault(text, f"{self._handle(index)} {_cut(text, ANSWER)}")
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
                    yield self.phrases.marks["agent"] + _cut(one_line(named[-1]), ANSWER)
                return


def _code_line(block: re.Match[str]) -> str:
    """Return what an answer shows of a block of code: its first line where it is announced."""
    before = block.string[max(0, block.start() - CODE) : block.start()].rstrip()
    if not before.endswith((":", "：")):
        return "\n\n"
    line, rest = block.groups()
    return f"`{line[:CODE].rstrip()}`{' …' if rest.strip() or len(line) > CODE else ''}\n"


def _asks(words: str) -> bool:
    """Return True if a user says something: neither a slip nor that a client was interrupted."""
    return not words.startswith(INTERRUPTED) and any(map(str.isalnum, words))


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, each of one line."""
    found = (one for line in text.split("\n") for one in SENTENCE_END.split(line))
    return [sentence for sentence in map(str.strip, found) if sentence]


def _long_sentences(message: Message) -> list[str]:
    text = "\n".join(part.text[:20_000] for part in message.parts if isinstance(part, Text))
    return [sentence for sentence in _sentences(text) if len(sentence) > 20]


def _cut(text: str, most: int) -> str:
    """Cut a text between words, or at the end of a sentence that is near."""
    if len(text) <= most:
        return text
    ends = [gap.start() for gap in SENTENCE_END.finditer(text, most // 2, most)]
    return text[: ends[-1]] if ends else text[:most].rsplit(" ", 1)[0] + "…"
