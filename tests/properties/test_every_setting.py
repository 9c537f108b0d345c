"""No setting is dead: each is changed alone, and something that a user sees is different."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from foldline import Config, FoldlineError, Reply, Session
from foldline.core.settings_codec import leaves
from foldline.stores.memory import MemoryStore

WINDOW = 20_000
FILES = Path(__file__).parents[1] / "cli"
SUMMARY = ("template", "language", "retries", "chunks", "share", "max_tokens")
BACK = ("count", "file_tokens", "total_tokens", "share", "never")


def step(number: int, words: int, tool: str = "read") -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "type": "function"}
    arguments = {"name": tool, "arguments": f'{{"path": "file{number}.py"}}'}
    text = " ".join(f"word{number}x{i}" for i in range(words))
    return [
        {"role": "assistant", "content": None, "tool_calls": [{**call, "function": arguments}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]


def make_history(steps: int = 30, words: int = 120, tool: str = "read") -> list[dict[str, Any]]:
    make_history: list[dict[str, Any]] = [
        {"role": "user", "content": "Mend the build of the project."}
    ]
    for number in range(steps):
        make_history += step(number, words, tool)
    return [*make_history, {"role": "assistant", "content": "Half of it is done."}]


def opened(config: Config, messages: list[Any] | None = None, **more: Any) -> Session:
    more = {"window": WINDOW, "clock": lambda: 1_000.0, **more}
    session = Session.open(None, "s", store=MemoryStore(), config=config, **more)
    session.extend(make_history() if messages is None else messages)
    return session


def view_size(config: Config) -> int:
    return sum(len(str(message)) for message in opened(config).view())


def forced(config: Config, **more: Any) -> Any:
    """Compact, and return the stable parts of the receipt."""
    receipt = opened(config, make_history(20, 100), **more).compact(force=True)
    return receipt.status, receipt.tokens_after, receipt.messages_after, receipt.policy


def budget(config: Config) -> Any:
    return opened(config, []).budget


def roomy(config: Config) -> Any:
    return Session.open(None, "s", store=MemoryStore(), config=config).budget


def pressure(config: Config) -> Any:
    return opened(config, make_history(20, 130)).pressure


def rungs(config: Config, messages: list[Any] | None = None, idle: float = 0.0) -> Any:
    """Compact after some idle time, and return the outcome of each rung."""
    now = [1_000.0]
    session = opened(config, messages or make_history(26, 120), clock=lambda: now[0])
    now[0] += idle
    return [(r.name, r.outcome, r.freed) for r in session.compact().rungs]


def thrifty(config: Config) -> Any:
    """Go through a session request by request, and return when and how far it was folded."""
    session = opened(config, make_history(1, 10))
    for number in range(2, 60):
        session.view()
        session.extend(step(number, 100))
    return [(r.status, r.tokens_before, r.tokens_after) for r in session.receipts]


def cleared(config: Config) -> Any:
    return rungs(config, idle=10_000)


def early(config: Config) -> Any:
    """Compact a window that is half full."""
    return opened(
        config, make_history(15, 120), clock=iter(range(0, 10**7, 10_000)).__next__
    ).compact()


def patience(config: Config) -> Any:
    """Compact twice with a few words in between, and return why the second time was none."""
    session = opened(config, make_history(22, 120))
    session.compact()
    session.extend(step(99, 20))
    return session.compact().reason


def opening(config: Config) -> Any:
    try:
        return opened(config, []).tokens
    except FoldlineError as error:
        return type(error)


def recorded(config: Config) -> Any:
    session = opened(config, make_history(1, 30_000), window=2_000_000)
    return session.tokens, str(session.view())[-200:]


def lined(config: Config) -> str:
    messages = make_history(1)
    messages[-2]["content"] = "\n".join(map(str, range(100)))
    return str(opened(config, messages).view())


def summarizer_calls(config: Config) -> Any:
    """Count the calls of a summarizer that never gives a usable answer."""
    asks: list[Any] = []

    def busy(ask: Any) -> Reply:
        asks.append(round(ask.seconds))
        return Reply(error="busy", usd=0.01)

    session = opened(config, summarizer=busy)
    receipt = session.compact(force=True)
    return asks, receipt.spent.attempts


def questions(config: Config) -> Any:
    """Return the requests to a summarizer whose answers are a single word."""
    asks: list[Any] = []

    def curt(ask: Any) -> Reply:
        asks.append((ask.prompt, ask.system, ask.max_tokens, ask.attempts))
        return Reply("no")

    opened(config, make_history(20, 150), summarizer=curt).compact(force=True)
    return asks


def history(config: Config) -> Any:
    """Compact three times with a summarizer that fails, and return when it was called."""
    now, asks = [0.0], list[Any]()

    def busy(ask: Any) -> Reply:
        asks.append(now[0])
        return Reply(error="busy", retry=False)

    session = opened(config, summarizer=busy, clock=lambda: now[0])
    for moment in (0.0, 10.0, 500.0):
        now[0] = moment
        session.compact(force=True)
        session.extend(m for n in range(40) for m in step(int(moment) * 100 + n, 100))
    return asks


def touches(config: Config) -> Any:
    tools = ("inspect", "store", "amend")
    session = opened(
        config, [message for tool in tools for message in make_history(2, 5, tool)[1:-1]]
    )
    return [(touch.path, touch.operation) for touch in session.touched]


def put_back(config: Config) -> Any:
    """Compact a session in which two small files were read, and return the view."""
    messages = make_history(20, 100)
    for name in ("test_stores.py", "test_demo.py"):
        call, result = step(len(messages), 40)
        call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{name}"}}'
        messages += [call, result]
    session = opened(config, [*messages, *make_history(20, 100, "run")[1:]])
    session.compact(force=True)
    return str(session.view())


def prepared(config: Config) -> Any:
    with opened(config, make_history(24, 100)) as session:
        session.extend(make_history(2, 60)[1:])
        return session.pressure.level, _waited(session)


def _waited(session: Session) -> bool:
    """Return True if a memory is prepared within a second."""
    end = monotonic() + 1.0
    while session.memory is None and monotonic() < end:
        session.append({"role": "user", "content": "Go on."})
    return session.memory is not None


Probe = Callable[[Config], Any]

EFFECTS: dict[str, tuple[Any, Probe]] = {
    "enabled": (False, view_size),
    "policy": ("window", forced),
    "summarizer": ("same", opening),
    "thresholds.clear_at": (0.2, early),
    "thresholds.warn_at": (0.56, pressure),
    "thresholds.act_at": (0.71, pressure),
    "thresholds.hard_at": (0.9, budget),
    "thresholds.target": (0.2, forced),
    "room.window": (50_000, roomy),
    "room.output": (9_000, budget),
    "room.margin": (3_000, budget),
    "room.max_input": (9_000, budget),
    "pace.growth": (0.0, patience),
    "pace.cache_seconds": (20_000.0, cleared),
    "pace.requests": (10_000, rungs),
    "economy.enabled": (False, thrifty),
    "economy.keep": (3_000, thrifty),
    "tail.fraction": (0.6, forced),
    "tail.newest": (2, forced),
    "clearing.keep": (20, cleared),
    "clearing.only": (["write"], cleared),
    "clearing.never": (["READ"], cleared),
    "clearing.gain_tokens": (100_000, cleared),
    "clearing.gain_fraction": (1.0, cleared),
    "outputs.soft": (2_000, recorded),
    "outputs.hard": (1_000_000, recorded),
    "outputs.lines": (10, lined),
    "outputs.bytes": (1_000, recorded),
    "outputs.style": ("tail", recorded),
    "limits.attempts": (0, summarizer_calls),
    "limits.seconds": (7.0, summarizer_calls),
    "limits.usd": (0.0, summarizer_calls),
    "summary.template": ("five_sections", questions),
    "summary.language": ("German", questions),
    "summary.retries": (3, questions),
    "summary.chunks": (1, questions),
    "summary.share": (0.1, questions),
    "summary.max_tokens": (100, questions),
    "breaker.failures": (1, history),
    "breaker.seconds": (5.0, history),
    "memory.enabled": (True, prepared),
    "memory.every": (1_000_000, prepared),
    "files.root": (str(FILES), put_back),
    "files.count": (1, put_back),
    "files.file_tokens": (50, put_back),
    "files.total_tokens": (100, put_back),
    "files.share": (0.02, put_back),
    "files.never": (["test_*"], put_back),
    "files.reads": (["inspect"], touches),
    "files.writes": (["store"], touches),
    "files.edits": (["amend"], touches),
    "files.path_keys": (["place"], touches),
}

STARTS: dict[str, dict[str, Any]] = {
    "tail.newest": {"policy": "keep_recent"},
    # Nothing can be cleared, so that the first attempt fails.
    "pace.growth": {"clearing": {"only": ["nothing"]}},
    "economy.enabled": {"economy": {"keep": 2_000}},
    "economy.keep": {"economy": {"keep": 2_000}},
    "limits.attempts": {"policy": "salient"},
    "limits.seconds": {"policy": "salient"},
    "limits.usd": {"policy": "salient"},
    **{f"summary.{name}": {"policy": "salient"} for name in SUMMARY},
    "breaker.failures": {"policy": "salient"},
    "breaker.seconds": {"policy": "salient", "breaker": {"failures": 1}},
    "memory.every": {"memory": {"enabled": True}},
    **{f"files.{name}": {"files": {"root": str(FILES)}} for name in BACK},
    "files.path_keys": {"files": {"reads": ["inspect"]}},
}
"""Further settings of both sides that a setting needs to have an effect."""


@cache
def seen_twice(probe: Probe, config: Config) -> tuple[Any, Any]:
    """Return the results without a change, computed twice; many settings start from them."""
    return probe(config), probe(config)


@pytest.mark.requirement("C22")
@pytest.mark.parametrize("key", EFFECTS)
def test_every_single_setting_has_a_visible_effect(key):
    value, probe = EFFECTS[key]
    before = Config().replace(**STARTS.get(key, {}))
    section, _, name = key.rpartition(".")
    after = before.replace(**({section: {name: value}} if section else {key: value}))
    seen, again = seen_twice(probe, before)
    assert seen == again
    assert probe(after) != seen


@pytest.mark.requirement("C22")
def test_every_setting_is_tested():
    assert {leaf.key for leaf in leaves(Config)} == EFFECTS.keys()
