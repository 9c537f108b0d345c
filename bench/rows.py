"""
Named rows: compress a tool's output to a tenth, and check whether the requested line is left.

    python bench/rows.py [--quick] [--json FILE] [--seed N] [--peers all|none|NAME,NAME]

Part 2 of the report. `made_outputs` has the outputs and the questions.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import foldline
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from foldline.outputs.condensing import condense
from foldline.outputs.verdict import failures
from made_outputs import Output, Question, made_outputs
from part import finish, options_of

SHARE, TOLERANCE = 0.1, 1.1
"""Share of the tokens to keep, and tolerance for libraries that count differently."""

COUNT, QUICK_COUNT = 40, 21
SEED, HELD_OUT = 1, 20_261
"""Number of outputs, and seeds: one was used in development, the other held out."""

LARGE = 1_000_000
"""Size of the outputs that speed is measured on, in bytes."""

CALLED = "bash"
DONE = "I have looked at the output."
TEXT = """\
Every case is one tool output (test runs, builds, logs in English and Chinese, listings,
diffs, searches, tables, JSON, HTML) and one question about a line of it: a row by its id or by a
value, the last line, the first error, an entry unlike the others, a count. The conversation is
compressed to {share:.0%} of its tokens. A row is kept if what distinguishes it is still in the
messages: all values that answer the question; the question itself does not count. The output is
unread (the question came first) or read (the question is the newest message). A result over
{tolerance:.0%} of the budget counts as nothing *within the budget*, regardless of what is left.
Outputs and questions are drawn from a seed. The other seed draws other values and questions of the
same kinds; nothing was tuned on them."""

Messages: TypeAlias = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Case:
    """An output, a question about it, and whether the model has seen the output."""

    output: Output
    question: Question
    read: bool

    def messages(self) -> Messages:
        """Write the conversation, in the format of chat completions."""
        arguments = json.dumps({"command": self.output.command})
        call = {"id": "call_1", "type": "function"}
        call |= {"function": {"name": CALLED, "arguments": arguments}}
        question = {"role": "user", "content": self.question.words}
        exchange = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": self.output.text},
        ]
        if not self.read:
            return [question, *exchange]
        before = {"role": "user", "content": "Please run the command."}
        return [before, *exchange, {"role": "assistant", "content": DONE}, question]

    def blocks(self) -> Messages:
        """Write the conversation, in Anthropic's format."""
        used = {"type": "tool_use", "id": "call_1", "name": CALLED}
        used |= {"input": {"command": self.output.command}}
        result = {"type": "tool_result", "tool_use_id": "call_1", "content": self.output.text}
        return [
            {"role": "user", "content": self.question.words},
            {"role": "assistant", "content": [used]},
            {"role": "user", "content": [result]},
        ]


@dataclass(frozen=True, slots=True)
class Kept:
    """The result of a case: is the row left, is it within the budget, and the share left."""

    case: Case
    found: bool
    within: bool
    share: float
    honest: bool
    seconds: float

    @property
    def counts(self) -> bool:
        return self.found and self.within


def cases(count: int, seed: int, *, every: bool) -> list[Case]:
    """Return all questions about all outputs, read and unread; or one each."""
    outputs = made_outputs(count, seed)
    if every:
        return [Case(o, q, read) for o in outputs for q in o.questions for read in (False, True)]
    return [
        Case(output, output.questions[(number + turn) % len(output.questions)], bool(turn))
        for number, output in enumerate(outputs)
        for turn in (0, 1)
    ]


def judged(case: Case, before: int, messages: Any, seconds: float) -> Kept:
    """Check what is left."""
    text = "\n".join(_texts(messages)).replace(case.question.words, "")
    flat = " ".join(text.split())
    found = all(" ".join(needle.split()) in flat for needle in case.question.needles)
    left = foldline.count(messages) if messages else 0
    failed = bool(failures(case.output.text, 1))
    honest = not failed or bool(failures(text, 1)) or "with failures" in text
    within = left <= int(before * SHARE) * TOLERANCE
    return Kept(case, found, within, left / before, honest, seconds)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, Sequence):
        for inner in value:
            yield from _texts(inner)


def ours(chosen: Iterable[Case], wire: Callable[[Case], Messages]) -> list[Kept]:
    """Run Foldline in this process."""
    found = []
    for case in chosen:
        messages = wire(case)
        before = foldline.count(messages)
        start = time.process_time()
        made = foldline.compact(messages, budget=int(before * SHARE)).messages
        found.append(judged(case, before, made, time.process_time() - start))
    return found


def theirs(chosen: Sequence[Case], names: str) -> dict[str, tuple[str, list[Kept]]]:
    """Run the named peers, each in its own environment; report why one cannot run."""
    if names == "none":
        return {}
    # Imported here: it searches for, and may create, the environments of all peers.
    from peer import peers

    found: dict[str, tuple[str, list[Kept]]] = {}
    for peer in peers(*(() if names == "all" else names.split(","))):
        kept, problem = [], peer.problem
        with peer.running(seconds=60) as running:
            for case in chosen if not problem else ():
                messages = case.messages()
                before = foldline.count(messages)
                answer = running.compact(messages, int(before * SHARE))
                problem = problem or answer.problem
                # On failure everything stays unchanged.
                made = messages if answer.messages is None else answer.messages
                kept.append(judged(case, before, made, answer.seconds))
        found[peer.name] = (problem, kept)
        print(f"{peer.name}: {_share(kept):.3f} {problem[:80]}", flush=True)
    return found


def _share(kept: Sequence[Kept]) -> float:
    return sum(one.counts for one in kept) / len(kept) if kept else 0.0


def _grouped(kept: Iterable[Kept], by: Callable[[Kept], str]) -> dict[str, list[Kept]]:
    groups: dict[str, list[Kept]] = defaultdict(list)
    for one in kept:
        groups[by(one)].append(one)
    return groups


def _of(kept: Sequence[Kept]) -> str:
    return f"{sum(one.counts for one in kept)} of {len(kept)}"


def milliseconds(seed: int) -> list[tuple[str, str, float, float]]:
    """Measure the time to parse a large output of every kind, best of three."""
    found = []
    for output in made_outputs(QUICK_COUNT, seed):
        text = _large(output)
        size = len(text.encode()) / 1e6
        seconds = []
        for _ in range(3):
            start = time.process_time()
            made = condense(text)
            seconds.append(time.process_time() - start)
        shorter = len(made.whole) / len(text) if made.lossless else 1.0
        found.append((output.kind, made.kind, min(seconds) * 1e3 / size, 1 - shorter))
    return found


def _large(output: Output) -> str:
    text = output.text
    times = 1 + LARGE // len(text)
    if text.startswith("["):
        return "[" + ",".join([text[1:-1]] * times) + "]"
    return text if text.startswith("{\n") else "\n".join([text] * times)


def section(options: Any) -> ReportSection:
    """Measure, and return the section."""
    count = QUICK_COUNT if options.quick else COUNT
    mine = ours(cases(count, options.seed, every=True), Case.messages)
    blocks = ours(cases(count, options.seed, every=False), Case.blocks)
    held = ours(cases(count, HELD_OUT, every=True), Case.messages)
    names = options.peers or ("none" if options.quick else "all")
    peers = theirs(cases(count, options.seed, every=False), names)
    tables = [_kinds(mine, held), _questions(mine, held, blocks)]
    plots = []
    if peers:
        tables.append(_libraries(peers))
        plots.append(_plot(peers))
    if not options.quick:
        tables.append(_speed(options.seed))
    seen = [*mine, *held, *blocks]
    goals = (
        Goal("rows kept at a tenth", _share(mine), "", least=0.99),
        Goal("rows kept, outputs of another seed", _share(held), "", least=0.99),
        Goal("rows kept, Anthropic's format", _share(blocks), "", least=0.99),
        Goal("failing outputs made to look passing", sum(not k.honest for k in seen), "", most=0),
    )
    text = TEXT.format(share=SHARE, tolerance=TOLERANCE)
    return ReportSection("rows", "Requested rows", text, tuple(tables), tuple(plots), goals)


def _kinds(mine: Sequence[Kept], held: Sequence[Kept]) -> ReportTable:
    others = _grouped(held, lambda one: one.case.output.kind)
    rows = [
        (kind, _of(kept), _of(others[kind]), statistics.median(one.share for one in kept))
        for kind, kept in _grouped(mine, lambda one: one.case.output.kind).items()
    ]
    rows.append(("all", _of(mine), _of(held), statistics.median(one.share for one in mine)))
    return ReportTable(
        "Rows kept by kind of output",
        ("output", "kept", "kept, other seed", "tokens left"),
        tuple(rows),
        "Foldline alone; every question about every output, read and unread.",
    )


def _questions(mine: Sequence[Kept], held: Sequence[Kept], blocks: Sequence[Kept]) -> ReportTable:
    others = _grouped(held, lambda one: one.case.question.about)
    question = _grouped(mine, lambda one: one.case.question.about)
    rows = [(about, _of(kept), _of(others[about])) for about, kept in question.items()]
    rows.append(("output unread", *(_of([k for k in s if not k.case.read]) for s in (mine, held))))
    rows.append(("output read", *(_of([k for k in s if k.case.read]) for s in (mine, held))))
    rows.append(("Anthropic's format", _of(blocks), None))
    return ReportTable(
        "Rows kept by question", ("question", "kept", "kept, other seed"), tuple(rows)
    )


def _libraries(peers: Mapping[str, tuple[str, list[Kept]]]) -> ReportTable:
    rows = []
    for name, (problem, kept) in peers.items():
        if not kept:
            rows.append((name, None, None, None, None, None, problem))
            continue
        size = statistics.median(len(one.case.output.text) / 1e6 for one in kept)
        pace = statistics.median(one.seconds for one in kept) * 1e3 / size
        left = statistics.median(one.share for one in kept)
        honest = sum(one.honest for one in kept) / len(kept)
        rows.append(
            (name, _of(kept), sum(one.found for one in kept), left, honest, pace, problem[:80])
        )
    return ReportTable(
        "Rows kept by library",
        ("library", "within budget", "at any size", "tokens left", "honest", "ms/MB", "problem"),
        tuple(rows),
        "Two questions about every output, one of them before it is read. Tokens left: the median "
        "share. Honest: the share of answers in which a failing output shows a failure.",
    )


def _plot(peers: Mapping[str, tuple[str, list[Kept]]]) -> Plot:
    points = tuple((float(n), _share(kept)) for n, (_, kept) in enumerate(peers.values()))
    return Plot(
        "rows-by-library",
        "Rows kept at a tenth of the tokens",
        "bars",
        "library",
        "share of rows kept within the budget",
        (Series("kept", points),),
        tuple(peers),
        goal=0.99,
    )


def _speed(seed: int) -> ReportTable:
    return ReportTable(
        "Time to take an output apart",
        ("output", "taken for", "ms/MB", "saved without loss"),
        tuple(milliseconds(seed)),
        "Outputs of about a megabyte, best of three. Saved without loss: what the shorter form "
        "saves in characters from which everything can be read again.",
    )


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--peers", default="", help="all, none, or names")
    options = parser.parse_args()
    finish(section(options), options)


if __name__ == "__main__":
    main()
