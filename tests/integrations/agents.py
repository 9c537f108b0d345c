"""
One simulated agent for every framework: questions, answers, and failures.

The model is a function of the request, so that a repeated request gets the same answer. In every
turn it reads one or two files, some of them in parallel, and then answers. ``Trouble`` injects a
failure before every answer: each request of the agent fails once and then succeeds.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.nightly import NIGHTLY

from foldline.testing.scripted.request import ReceivedRequest
from foldline.testing.scripted.steps import (
    Answer,
    CallTool,
    CutOff,
    Nothing,
    Overflow,
    Stall,
    Status,
    Step,
)
from foldline.values.messages import Message

SYSTEM = "You check the parts of a program, one after the other."
AGENT, SUMMARIZER = "scripted-agent", "scripted-summarizer"
"""The models that requests ask for: who is asked is told by the name."""

WINDOW = 6_000
"""The window that the agents are given, in tokens: a run of 27 turns fills it many times."""

TURNS = 100 if NIGHTLY else 34
"""Turns of the long run; each framework is taken through it in one way."""

FEWER = 27
"""Turns in which each other way of the same framework meets every fault."""

READ_FILE: dict[str, Any] = {
    "name": "read_file",
    "description": "Read a file of the program.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
}
"""The one tool, as a neutral schema."""

ACCOUNT = "The agent checks parts one by one. The parts up to now are sound. Checking goes on."
"""What the summarizer answers."""


def unchecked(client: Any) -> Any:
    """
    Disable the validation of messages or items in an OpenAI client; return it.

    It compares every item with every known type before sending it unchanged, which would take a
    third of the time of these tests. In tests/clients it is enabled.
    """
    for resource, name in ((client.chat.completions, "messages"), (client.responses, "input")):
        resource.create = _beside(resource.create, name)
    return client


def _beside(create: Callable[..., Any], name: str) -> Callable[..., Any]:
    def given(**words: Any) -> Any:
        body = {**(words.get("extra_body") or {}), name: words[name]}
        return create(**{**words, name: [], "extra_body": body})

    return given


# --- the conversation ----------------------------------------------------------------------


def question(turn: int) -> str:
    """Return the user message of a turn, counted from 0."""
    return f"[turn {turn:03d}] Check part_{turn:03d}.py. The ticket is ORD-{turn * 7919:07d}."


def reminder(turn: int) -> str:
    """Return the user message after an empty answer."""
    return f"[turn {turn:03d}] You said nothing. Please go on."


def answer(turn: int) -> str:
    """Return the model's answer at the end of a turn."""
    return f"Part {turn:03d} is sound; ticket ORD-{turn * 7919:07d} can be closed."


def read_file(path: str) -> str:
    """Return the tool output: about 500 tokens, different for every path."""
    seed = sum(path.encode())
    lines = (
        f"{line:03d}: def check_{seed + line}(value: int) -> bool:  return value != {line * seed}"
        for line in range(18)
    )
    return "\n".join([f"# {path}", *lines])


def files_of(turn: int) -> list[list[str]]:
    """Return the files that the model reads in a turn, round by round."""
    first = [f"src/part_{turn:03d}.py"]
    if turn % 3 == 0:
        first.append(f"tests/test_part_{turn:03d}.py")
    return [first, [f"docs/part_{turn:03d}.md"]] if turn % 4 == 0 else [first]


def model(request: ReceivedRequest) -> Step:
    """Answer a request, depending only on its content."""
    if request.model == SUMMARIZER:
        return Answer(ACCOUNT)
    messages = request.transcript.messages
    turns = [_turn(message) for message in messages]
    turn = next((turn for turn in reversed(turns) if turn is not None), None)
    if turn is None:
        return Status(400, message="The question of the user is missing.", again=False)
    read = {call.arguments for m in messages[turns.index(turn) :] for call in m.calls}
    for paths in files_of(turn):
        if not all(any(path in arguments for arguments in read) for path in paths):
            return Answer(
                f"I read {' and '.join(paths)}.",
                tuple(CallTool("read_file", {"path": path}) for path in paths),
            )
    return Answer(answer(turn))


def _turn(message: Message) -> int | None:
    """Return the turn of a question; text quoted in a snapshot begins with a handle."""
    if message.role != "user":
        return None
    found = re.findall(r"^\[turn (\d{3})\]", message.text, re.MULTILINE)
    return int(found[-1]) if found else None


# --- the run -------------------------------------------------------------------------------


def run(ask: Callable[[str], str], turns: int = TURNS) -> list[str]:
    """
    Hold the conversation.

    Args:
        ask: Sends a message to the agent and returns its answer; it retries transient errors.
        turns: The number of questions.

    Returns:
        The user messages, in order.
    """
    said: list[str] = []
    for turn in range(turns):
        said.append(question(turn))
        got = ask(said[-1])
        while not got.strip():
            said.append(reminder(turn))
            got = ask(said[-1])
        assert got == answer(turn)
    return said


async def arun(ask: Callable[[str], Awaitable[str]], turns: int = TURNS) -> list[str]:
    """Hold the conversation with an async agent; see `run`."""
    said: list[str] = []
    for turn in range(turns):
        said.append(question(turn))
        got = await ask(said[-1])
        while not got.strip():
            said.append(reminder(turn))
            got = await ask(said[-1])
        assert got == answer(turn)
    return said


# --- trouble -------------------------------------------------------------------------------

FAULTS: dict[str, Step] = {
    "429": Status(429, retry_after=0.0),
    "500": Status(500, retry_after=0.0),
    "529": Status(529, retry_after=0.0),
    "cut": CutOff(40),
    "stall": Stall(0.02, 40),
    "empty": Nothing(),
    "overflow": Overflow(),
}

MIXED = (*(name for name in FAULTS if name != "overflow"),) * 5 + ("overflow",)
"""All faults in turn; overflows are rare, so that the window fills up in between as well."""

LARGE = WINDOW // 2
"""
An overflow is reported only for requests of more tokens: less need not get smaller, and who is
told without a number learns that this much is too much.
"""


@dataclass
class Trouble:
    """
    A model that fails once before it answers every request.

    Args:
        kinds: Names of `FAULTS`, used cyclically.
        summaries: The same for the summarizer; empty if it never fails.

    ``injected`` counts the faults, ``answered`` the answers of the agent, ``asked`` the requests
    to the summarizer; ``larger`` lists the overflows after which the next request was not smaller.
    """

    kinds: Sequence[str] = MIXED
    summaries: Sequence[str] = tuple(FAULTS)
    injected: Counter[str] = field(default_factory=Counter)
    answered: int = 0
    asked: int = 0
    larger: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._failed = False
        self._rejected: int | None = None

    def __call__(self, request: ReceivedRequest) -> Step:
        with self._lock:
            if request.model == SUMMARIZER:
                return self._summary(request)
            return self._agent(request)

    def _agent(self, request: ReceivedRequest) -> Step:
        if self._rejected is not None:
            if request.tokens >= self._rejected:
                self.larger.append((self._rejected, request.tokens))
            self._rejected = None
        if self._failed or not self.kinds:
            self._failed = False
            self.answered += 1
            return model(request)
        kind = self.kinds[sum(self.injected.values()) % len(self.kinds)]
        if kind == "overflow":
            if request.tokens <= LARGE:
                kind = "500"
            else:
                self._rejected = request.tokens
        self.injected[kind] += 1
        self._failed = True
        return FAULTS[kind]

    def _summary(self, request: ReceivedRequest) -> Step:
        number, self.asked = self.asked, self.asked + 1
        # Every other request fails, with another fault each time.
        if number % 2 or not self.summaries:
            return model(request)
        return FAULTS[self.summaries[number // 2 % len(self.summaries)]]


# --- what must hold at the end -------------------------------------------------------------


def check_requests(requests: Iterable[ReceivedRequest]) -> None:
    """Check that every request is valid for the provider and contains the task."""
    for request in requests:
        assert request.violations == (), f"request {request.number}: {request.violations[0]}"
        if request.model == AGENT:
            assert question(0) in request.text, f"request {request.number} lost the task"


def check_words(said: Sequence[str], kept: Iterable[str]) -> None:
    """
    Check that no user message was lost, repeated or reordered.

    Args:
        said: The user messages.
        kept: The texts of the user messages of a log or of a framework's own history.
    """
    assert [text.strip() for text in kept] == list(said)


def words(messages: Iterable[Message]) -> list[str]:
    """Return the user texts of a log."""
    return [m.text for m in messages if m.role == "user" and m.text and not m.results]
