"""Realistic agent histories, as hypothesis strategies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import cycle, islice
from typing import Any

from foldline.errors import MissingExtra
from foldline.frozen import replace
from foldline.testing.wires import DIALECT_NAMES, wire
from foldline.values.identity import identify
from foldline.values.messages import (
    Content,
    Media,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

KINDS: Mapping[str, Sequence[str]] = json.loads(
    files("foldline.testing").joinpath("sample_texts.json").read_text("utf-8")
)
"""Lines of each kind; a text repeats them, numbered to make every line unique."""


def sample(kind: str, lines: int) -> str:
    """
    Return a sample text.

    Args:
        kind: One of `KINDS`.
        lines: Number of lines; those of the kind "one_line" are joined.

    Returns:
        The same text for the same arguments, in every process.
    """
    taken = islice(cycle(KINDS[kind]), lines)
    if kind == "one_line":
        return "".join(taken)
    if kind in ("hostile", "spaces"):
        return "\n".join(taken)
    return "\n".join(f"{line} #{number}" if number else line for number, line in enumerate(taken))


try:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st
except ImportError as error:  # pragma: no cover  # tested in a separate process
    raise MissingExtra("hypothesis", "testing") from error

TOOLS = ("read_file", "run", "search", "write_file")

SOUND = ("say", "answer", "work", "work", "parallel", "interleaved")
"""Steps of a healthy agent."""

DAMAGED = (
    *SOUND,
    *("late", "dead", "orphan", "twice", "reused", "blank", "again", "swapped", "note", "mixed"),
)
"""The same with the damage of crashed, lossy and concurrent agents."""

ENDS = ("say", "answer", "unread", "running", "half")

SIZES = (*(1,) * 8, *(2, 5) * 4, *(40,) * 4, 200, 200, 1_500)
"""Number of lines of a text: mostly few; the last one is a giant."""

_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)
IMAGE = Media("image", "image/png", size=70, width=1, height=1, raw=_PIXEL)
"""The smallest picture; ``raw`` is its base64, which `wires` places as each wire requires."""


@st.composite
def texts(draw: st.DrawFn, *, giants: bool = True) -> str:
    """Generate a text: a line, a page or, rarely, thousands of lines, of any kind."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    sizes = SIZES if giants else SIZES[:-1]
    return sample(kind, draw(st.sampled_from(sizes)))


@st.composite
def contents(draw: st.DrawFn, *, giants: bool) -> tuple[Content, ...]:
    """Generate the content of a user message or a tool result: text, sometimes with a picture."""
    text = Text(draw(texts(giants=giants)))
    return (text, IMAGE) if draw(st.integers(0, 9)) == 0 else (text,)


@dataclass(slots=True)
class _Writer:
    """Writes one history; ``number`` counts calls to give each a unique id."""

    draw: st.DrawFn
    giants: bool
    messages: list[Message] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    # --- single messages -----------------------------------------------------------------

    def add(self, role: Role, *parts: Part) -> None:
        self.messages.append(Message(role, parts))

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def call(self, number: str = "") -> ToolCall:
        if not number:
            number = f"call_{len(self.ids)}"
            self.ids.append(number)
        name = self.one_of(*TOOLS)
        value = self.draw(texts(giants=self.giants)) if name == "write_file" else "src/app.py"
        arguments = json.dumps({"path": value, "limit": len(self.ids)}, ensure_ascii=False)
        return ToolCall(number, name, arguments)

    def result(self, call: ToolCall) -> ToolResult:
        content = self.draw(contents(giants=self.giants))
        return ToolResult(call.id, content, call.name, is_error=self.one_of(False, False, True))

    def thoughts(self) -> tuple[Part, ...]:
        kind = self.one_of("", "", "plain", "signed")
        return (Thinking("I should look at that.", kind == "signed"),) if kind else ()

    def calling(self, *calls: ToolCall, thinks: bool = True) -> None:
        words = (Text("Let me see."),) if self.one_of(True, False) else ()
        self.add("assistant", *(self.thoughts() if thinks else ()), *words, *calls)

    def answering(self, *calls: ToolCall) -> None:
        """Add the results in any order, in one message or one message each."""
        results = self.draw(st.permutations([self.result(call) for call in calls]))
        for together in [results] if self.one_of(True, False) else [[one] for one in results]:
            self.add("tool", *together)

    # --- steps of a healthy agent --------------------------------------------------------

    def say(self) -> None:
        self.add("user", *self.draw(contents(giants=self.giants)))

    def answer(self) -> None:
        self.add("assistant", *self.thoughts(), Text(self.draw(texts(giants=False))))

    def work(self) -> None:
        call = self.call()
        self.calling(call)
        self.answering(call)

    def parallel(self) -> None:
        calls = [self.call() for _ in range(self.one_of(2, 3, 5))]
        self.calling(*calls)
        self.answering(*calls)

    def interleaved(self) -> None:
        first, second = self.call(), self.call()
        self.calling(first)
        self.calling(second, thinks=False)
        self.answering(first, second)

    # --- damage --------------------------------------------------------------------------

    def late(self) -> None:
        call = self.call()
        self.calling(call)
        self.one_of(self.say, self.answer, self.work)()
        self.answering(call)

    def dead(self) -> None:
        calls = [self.call() for _ in range(self.one_of(1, 2))]
        self.calling(*calls)
        if len(calls) == 2:
            self.answering(calls[1])
        self.one_of(self.say, self.answer, self.work)()

    def orphan(self) -> None:
        self.add("tool", self.result(ToolCall(f"lost_{len(self.messages)}", "run", "{}")))

    def twice(self) -> None:
        call = self.call()
        self.calling(call)
        self.answering(call)
        self.answering(call)

    def reused(self) -> None:
        call = self.call(self.one_of(*self.ids) if self.ids else "")
        self.calling(call)
        self.answering(call)

    def blank(self) -> None:
        self.add(self.one_of("user", "assistant"), *self.one_of((), (Text(""),), (Text(" \n"),)))

    def again(self) -> None:
        if self.messages:
            self.messages.append(self.messages[-1])

    def swapped(self) -> None:
        call = self.call()
        self.answering(call)
        self.calling(call)

    def note(self) -> None:
        self.add("system", Text("Remember: the deadline is Friday."))

    def mixed(self) -> None:
        """Add a user message that holds a result, a lost result and text of the user."""
        call = self.call()
        self.calling(call)
        lost = self.result(ToolCall(f"lost_{len(self.messages)}", "run", "{}"))
        self.add("user", lost, self.result(call), *self.draw(contents(giants=False)), Text(" "))

    # --- endings -------------------------------------------------------------------------

    def unread(self) -> None:
        self.one_of(self.work, self.parallel)()

    def running(self) -> None:
        self.calling(*(self.call() for _ in range(self.one_of(1, 3))))

    def half(self) -> None:
        calls = [self.call() for _ in range(3)]
        self.calling(*calls)
        self.answering(calls[self.one_of(0, 1, 2)])


@st.composite
def histories(
    draw: st.DrawFn, *, damaged: bool = True, giants: bool = True, most: int = 12
) -> tuple[Message, ...]:
    """
    Generate a history as neutral messages with ids.

    Args:
        draw: Given by hypothesis.
        damaged: Whether agents may have crashed, lost lines and answered late; otherwise every
            history is valid.
        giants: Whether a single text may have thousands of lines.
        most: Maximum steps of a history, without its start and end.
    """
    writer = _Writer(draw, giants)
    if draw(st.booleans()):
        writer.add("system", Text(sample("prose", draw(st.sampled_from((1, 8, 60))))))
    if not damaged or draw(st.integers(0, 7)):
        writer.say()
    for step in draw(st.lists(st.sampled_from(DAMAGED if damaged else SOUND), max_size=most)):
        getattr(writer, step)()
    getattr(writer, draw(st.sampled_from(ENDS)))()
    if damaged and draw(st.integers(0, 9)) == 0:
        written = writer.messages
        return identify([Message(m.role, tuple(map(_without_id, m.parts))) for m in written])
    return identify(writer.messages)


def _without_id(part: Part) -> Part:
    """Remove the id of a call or a result, as in wires without ids."""
    if isinstance(part, ToolCall):
        return replace(part, id=None)
    return replace(part, call_id=None) if isinstance(part, ToolResult) else part


def conversations(
    dialect: str | None = None, *, damaged: bool = True, giants: bool = True, most: int = 12
) -> st.SearchStrategy[tuple[str, Any]]:
    """
    Generate pairs of a dialect's name and a conversation in its wire format.

    Args:
        dialect: The dialect; None for any.
        damaged: See `histories`.
        giants: See `histories`.
        most: See `histories`.
    """
    names = st.just(dialect) if dialect else st.sampled_from(DIALECT_NAMES)
    generated = histories(damaged=damaged, giants=giants, most=most)
    return st.builds(lambda name, messages: (name, wire(messages, name)), names, generated)


def budgets() -> st.SearchStrategy[int | float]:
    """Generate budgets: integers are tokens, floats are fractions of the current size."""
    shares = st.sampled_from((0.05, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.2))
    return st.one_of(shares, shares, st.integers(1, 200))


def for_all(
    check: Callable[[str, Any, int | float], None],
    *,
    examples: int,
    formats: Sequence[str] = (),
) -> None:
    """
    Call a check with many conversations and budgets, the same ones on every run.

    Args:
        check: Takes the name of a dialect, a conversation in its wire format and a budget.
        examples: Number of examples to try.
        formats: Dialects to try; default: all.

    Raises:
        AssertionError: Raised by the check for the smallest conversation that breaks it.
    """
    chosen = [conversations(name) for name in formats] or [conversations()]

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.one_of(chosen), budgets())
    def holds(conversation: tuple[str, Any], budget: int | float) -> None:
        check(*conversation, budget)

    holds()
