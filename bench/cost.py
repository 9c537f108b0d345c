"""
What a session costs under each policy, with prompt caching modelled.

Recorded sessions are replayed: before each answer of the assistant, a policy decides what is sent.
What a request shares with the beginning of the one before is read from the cache, the rest is
written to it, and the recorded answer is paid as output; so are the summaries of a policy that
asks a model.

    python bench/cost.py [SHARED] [--model NAME] [--windows 64000,200000] [--every N]
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, astuple, dataclass, field
from functools import cache
from operator import add
from pathlib import Path
from typing import Any

import foldline
from foldline.core.messages import Usage
from foldline.counters.choose import choose_counter
from foldline.formats.registry import dialect
from foldline.models.catalogue import Catalogue
from foldline.models.info import Prices
from foldline.stores.memory import MemoryStore

SHARED = Path(__file__).resolve().parents[2] / "shared"
LEAST_STEPS = 20
SUMMARY = "The agent read files, ran commands and fixed what it found. " * 30
"""What stands in for the answer of a model to whoever asks for a summary, 360 tokens."""

Wire = list[dict[str, Any]]


@dataclass(frozen=True)
class Bill:
    """What was paid for, in tokens; ``over`` counts requests that the window could not hold."""

    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    over: int = 0

    def __add__(self, other: Bill) -> Bill:
        mine, theirs = astuple(self.usage), astuple(other.usage)
        usage = Usage(*map(add, mine, theirs))
        return Bill(usage, self.requests + other.requests, self.over + other.over)


# --- policies: from a growing history to what is sent ---------------------------------------


@dataclass
class Asked:
    """What a policy paid for summaries, in tokens."""

    read: int = 0
    written: int = 0


Policy = Callable[[int, Asked], Callable[[Wire], Wire]]


def nothing(_: int, __: Asked) -> Callable[[Wire], Wire]:
    return lambda history: history


def clear_every_step(_: int, __: Asked, keep: int = 3) -> Callable[[Wire], Wire]:
    def show(history: Wire) -> Wire:
        results = [i for i, message in enumerate(history) if message["role"] == "tool"]
        gone = set(results[: max(0, len(results) - keep)])
        return [m | {"content": "[cleared]"} if i in gone else m for i, m in enumerate(history)]

    return show


def langchain_clearing(_: int, __: Asked) -> Callable[[Wire], Wire]:
    from langchain.agents.middleware import ClearToolUsesEdit
    from langchain_core.messages.utils import count_tokens_approximately

    wire = dialect("langchain")

    def show(history: Wire) -> Wire:
        messages = _objects(history)
        ClearToolUsesEdit().apply(messages, count_tokens=count_tokens_approximately)
        cleared = {m.tool_call_id for m in messages if getattr(m, "content", "") == "[cleared]"}
        assert wire.recognises(messages)
        return [
            m | {"content": "[cleared]"} if m.get("tool_call_id") in cleared else m
            for m in history
        ]

    return show


def langchain_summary(window: int, asked: Asked) -> Callable[[Wire], Wire]:
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, RemoveMessage

    def answers() -> Iterator[AIMessage]:
        while True:
            yield AIMessage(SUMMARY)

    class Model(GenericFakeChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            asked.read += sum(
                _count({"role": "user", "content": str(m.content)}) for m in messages
            )
            asked.written += _count({"role": "assistant", "content": SUMMARY})
            return super()._generate(messages, *args, **kwargs)

    middleware = SummarizationMiddleware(
        model=Model(messages=answers()), trigger=("tokens", round(0.85 * window))
    )
    state: list[Any] = []
    seen = 0

    def show(history: Wire) -> Wire:
        nonlocal state, seen
        state += _objects(history)[seen:]
        seen = len(history)
        update = middleware.before_model({"messages": state}, None)
        if update:
            state = [m for m in update["messages"] if not isinstance(m, RemoveMessage)]
        return [_plain(message) for message in state]

    return show


def ours(name: str, most: int | None = None) -> Policy:
    def policy(window: int, _: Asked) -> Callable[[Wire], Wire]:
        session = foldline.Session.open(
            None,
            "bench",
            store=MemoryStore(),
            window=min(window, most or window),
            policy=name,
            format="openai-chat",
            counter=choose_counter(),
        )

        def show(history: Wire) -> Wire:
            session.extend(history[len(session.messages) :])
            return session.view()

        return show

    return policy


POLICIES: dict[str, Policy] = {
    "no compaction": nothing,
    "clear at every step": clear_every_step,
    "LangChain ContextEditing": langchain_clearing,
    "LangChain Summarization": langchain_summary,
    "Foldline clear": ours("clear"),
    "Foldline default": ours("default"),
    "Foldline default, in 32,000": ours("default", 32_000),
}


# --- replaying -----------------------------------------------------------------------------


def replay(history: Wire, window: int, policy: Policy) -> Bill:
    """Add up what every request of a session costs."""
    asked = Asked()
    show = policy(window, asked)
    bill, before = Bill(), list[str]()
    for index, message in enumerate(history):
        if message["role"] != "assistant" or index == 0:
            continue
        sent = [json.dumps(m, sort_keys=True) for m in show(history[:index])]
        shared = 0
        for old, new in zip(before, sent, strict=False):
            if old != new:
                break
            shared += 1
        read = sum(map(_size, sent[:shared]))
        written = sum(map(_size, sent[shared:]))
        usage = Usage(0, _count(message), cache_read=read, cache_write=written)
        bill += Bill(usage, 1, read + written > window)
        before = sent
    return bill + Bill(Usage(asked.read, asked.written))


@cache
def _size(text: str) -> int:
    return _count(json.loads(text))


def _count(message: dict[str, Any]) -> int:
    return foldline.count([message], format="openai-chat")


def _objects(history: Wire) -> list[Any]:
    from langchain_core.messages.utils import convert_to_messages

    plain = [m | {"content": m.get("content") or ""} for m in history]
    return [m.model_copy(update={"id": str(i)}) for i, m in enumerate(convert_to_messages(plain))]


def _plain(message: Any) -> dict[str, Any]:
    from langchain_core.messages.utils import convert_to_openai_messages

    return convert_to_openai_messages(message)


def measure(job: tuple[Path, str, int]) -> list[tuple[int, str, str, Bill]]:
    shared, name, window = job
    sys.path.insert(0, str(shared / "tools"))
    corpus, retention = importlib.import_module("corpus"), importlib.import_module("retention")
    rows = []
    for session, steps in corpus.sessions(shared / "data" / "transcripts"):
        if session != name:
            continue
        history = retention.openai([step for step in steps if step["role"] != "system"])
        for title, policy in POLICIES.items():
            rows.append((window, title, name, replay(history, window, policy)))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=SHARED)
    parser.add_argument("--model", default="claude-sonnet-4-5")
    parser.add_argument("--windows", default="64000,200000")
    parser.add_argument("--every", type=int, default=1, help="use every Nth session only")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not (options.shared / "data" / "transcripts").is_dir():
        sys.exit(f"No transcripts in {options.shared}: nothing to measure.")
    prices = Catalogue.load().find(options.model).prices
    if prices is None:
        sys.exit(f"The price of {options.model} is not known.")
    sys.path.insert(0, str(options.shared / "tools"))
    corpus = importlib.import_module("corpus")
    names = [
        name
        for name, steps in corpus.sessions(options.shared / "data" / "transcripts")
        if sum(step["role"] == "assistant" for step in steps) >= LEAST_STEPS
    ][:: options.every]
    windows = [int(window) for window in options.windows.split(",")]
    jobs = [(options.shared, name, window) for window in windows for name in names]
    with ProcessPoolExecutor(2) as pool:
        rows = [row for rows in pool.map(measure, jobs) for row in rows]
    totals: dict[tuple[int, str], Bill] = defaultdict(Bill)
    for window, title, _, bill in rows:
        totals[window, title] += bill
    if options.json:
        rows = [
            {"window": w, "policy": t, "usd": prices.of(b.usage), "too_long": b.over}
            | asdict(b.usage)
            for (w, t), b in totals.items()
        ]
        print(json.dumps(rows))
        return
    print(
        f"{len(names)} sessions at the prices of {options.model}, in US dollars for a million: "
        f"input {prices.input:g}, written to the cache {prices.cache_write:g}, "
        f"read from it {prices.cache_read:g}, output {prices.output:g}"
    )
    for window in windows:
        show(window, totals, prices)


def show(window: int, totals: dict[tuple[int, str], Bill], prices: Prices) -> None:
    print(f"\nWindow of {window:,} tokens\n")
    print("| policy | price | of no compaction | read | written | summaries | too long |")
    print("|---|---|---|---|---|---|---|")
    whole = prices.of(totals[window, "no compaction"].usage)
    for title in POLICIES:
        bill = totals[window, title]
        usd, usage = prices.of(bill.usage), bill.usage
        print(
            f"| {title} | ${usd:.2f} | {usd / whole:.0%} | {usage.cache_read / 1e6:.1f}M "
            f"| {usage.cache_write / 1e6:.2f}M | {usage.input / 1e6:.2f}M "
            f"| {bill.over} of {bill.requests} |"
        )
    best = min(POLICIES, key=lambda title: prices.of(totals[window, title].usage))
    print(f"\nCheapest: {best}.")
    mine = prices.of(totals[window, "Foldline default"].usage)
    if not best.startswith("Foldline") and mine > prices.of(totals[window, best].usage):
        print(
            "Ours waits until the window fills: below its trigger it forgets nothing. "
            "Give it a smaller window to pay less."
        )


if __name__ == "__main__":
    main()
