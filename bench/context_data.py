"""Generated facts, texts, files and questions for `context.py`; the same on every machine."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from foldline.context.comparison import Case
from foldline.context.compression import Kind
from foldline.context.packets import ContextPacket
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())
NOW = 1_760_000_000.0

SERVICES = ("billing", "search", "mail", "login", "export", "report", "cache", "queue", "audit",
            "invoice", "stock", "route", "media", "chat", "quota", "backup", "index", "token",
            "theme", "badge", "coupon", "ledger", "parcel", "survey", "ticket")  # fmt: skip
ASPECTS = ("port", "timeout", "owner", "region", "retry limit", "log level", "queue depth", "host")
FILLER = (
    "The team met on {day} and went through the open points one by one.",
    "Nothing of note happened during the deployment window that week.",
    "Several people asked for a clearer description of the release process.",
    "The dashboard was redesigned so that the most used figures come first.",
    "A short discussion followed about who reviews changes during holidays.",
    "It was agreed to look at the {service} service again after the summer.",
    "Tests of the {service} service took longer than usual on that machine.",
    "The {aspect} came up as well, without a decision.",
)


@dataclass(frozen=True)
class Fact:
    """A fact to search for: a question, the sentence that answers it, and the answer."""

    question: str
    sentence: str
    answer: str


def facts(count: int, seed: int = 1) -> list[Fact]:
    """Generate facts that are easily confused."""
    dice = random.Random(seed)  # noqa: S311  # reproducible, no secret
    pairs = [(service, aspect) for service in SERVICES for aspect in ASPECTS]
    out = []
    for service, aspect in dice.sample(pairs, count):
        answer = f"{dice.choice('abcdefgh')}{dice.randrange(1_000, 9_999)}"
        out.append(
            Fact(
                f"What is the {aspect} of the {service} service?",
                f"The {aspect} of the {service} service is {answer}.",
                answer,
            )
        )
    return out


def filler(count: int, seed: int = 2) -> Iterator[str]:
    """Generate sentences without answers, some of them with the words of questions."""
    dice = random.Random(seed)  # noqa: S311  # as above
    for _ in range(count):
        yield dice.choice(FILLER).format(
            day=dice.choice(("Monday", "Tuesday", "Friday")),
            service=dice.choice(SERVICES),
            aspect=dice.choice(ASPECTS),
        )


def haystack(wanted: Sequence[Fact], size: int) -> Iterator[str]:
    """
    Spread facts over a text of a given size in tokens.

    Two thirds of the rest are irrelevant. One third is about the same services or the same
    settings; one in twenty of these gives another value of the same setting, on an old cluster.
    """
    dice = random.Random(size)  # noqa: S311  # as above
    lines = [fact.sentence for fact in wanted]
    rest = size - COUNTER.text("\n".join(lines))
    more = filler(10_000, size)
    while rest > 0:
        line = next(more) if dice.random() > 0.33 else _rival(dice, dice.choice(wanted))
        rest -= COUNTER.text(line) + 1
        lines.append(line)
    dice.shuffle(lines)
    yield from lines


def _rival(dice: random.Random, fact: Fact) -> str:
    aspect, service = fact.question[12:-9].split(" of the ")
    value = f"{dice.choice('abcdefgh')}{dice.randrange(1_000, 9_999)}"
    if dice.random() < 0.05:
        return f"On the old cluster the {aspect} of the {service} service is {value}."
    if dice.random() < 0.5:
        return (
            f"Page {dice.randrange(900)} says what {dice.choice(ASPECTS)} {service} had: {value}."
        )
    return f"Page {dice.randrange(900)} says what {aspect} {dice.choice(SERVICES)} had: {value}."


def codebase() -> tuple[dict[str, str], list[Fact]]:
    dice = random.Random(5)  # noqa: S311  # as above
    files, wanted = {}, []
    for number in range(50):
        service = SERVICES[number % len(SERVICES)]
        path = f"src/{service}/{'server' if number < 25 else 'client'}.py"
        value = dice.randrange(1_000, 9_999)
        body = "\n\n".join(
            f"def {dice.choice(('load', 'save', 'check', 'send'))}_{service}_{at}(item):\n"
            f"    value = item.get({at})\n    return value or default_{service}({at})"
            for at in range(dice.randrange(15, 40))
        )
        files[path] = f'"""The {service} service."""\n\nMAX_RETRIES = {value}\n\n{body}\n'
        if number % 5 == 0:
            where = f"{service} {'server' if number < 25 else 'client'}"
            wanted.append(
                Fact(f"What is MAX_RETRIES of the {where}?", "", f"MAX_RETRIES = {value}")
            )
    return files, wanted


def shaped_text(kind: Kind, where: str, seed: int) -> tuple[str, list[Fact]]:
    dice = random.Random(f"{kind}{where}{seed}")  # noqa: S311  # as above
    wanted = facts(5, seed)
    shape = {
        "conversation": lambda at, s: f"{'user' if at % 2 else 'assistant'}: {s}",
        "log": lambda at, s: f"2025-03-01 10:{at // 60 % 60:02}:{at % 60:02} INFO {s}",
        "code": lambda at, s: f"    note_{at} = {s!r}",
        "data": lambda at, s: json.dumps({"row": at, "text": s}),
        "prose": lambda _, s: s,
    }[kind]
    lines = [*filler(160, seed)]
    for fact in wanted:
        low = int(len(lines) * 0.85) if where == "at the end" else 0
        lines.insert(dice.randrange(low, len(lines)), fact.sentence)
    shaped = [shape(at, line) for at, line in enumerate(lines)]
    return (" " if kind == "prose" else "\n").join(shaped), wanted


def cases(count: int = 20) -> list[Case]:
    """Generate questions, each with three relevant packets among many: two facts, a decision."""
    out = []
    known = facts(count * 2, 7)
    for number in range(count):
        one, other = known[2 * number], known[2 * number + 1]
        lines = [*filler(60, number)]
        noise = [
            ContextPacket(" ".join(lines[at : at + 6]), NOW - 86_400 * at,
                          metadata={"type": "document", "title": f"minutes {at}"})
            for at in range(0, 60, 6)
        ]  # fmt: skip
        long = " ".join([*lines[:40], other.sentence, *lines[40:]])
        packets = (
            *noise,
            ContextPacket(f"{lines[0]} {one.sentence}", NOW - 3_600,
                          metadata={"type": "knowledge", "title": "settings"}),
            ContextPacket(long, NOW - 7_200, metadata={"type": "document", "title": "handbook"}),
            ContextPacket("Decision: nothing changes before the audit.", NOW,
                          metadata={"type": "blocker"}),
        )  # fmt: skip
        query = f"{one.question} {other.question} Is there a decision about the audit?"
        wanted = (one.answer, other.answer, "nothing changes before the audit")
        out.append(Case(query, (), "You operate services.", packets, wanted))
    return out
