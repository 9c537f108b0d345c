"""
Foldline and its peers behind one call, each in its own process and environment.

    with peer.running() as running:
        answer = running.compact(messages, budget=4_000)

    python bench/peer.py --smoke                    every peer on the bundled session
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environments
import foldline
from worker import Broken, Worker

ADAPTERS = Path(__file__).parent / "peers"
SESSION = Path(__file__).resolve().parents[1] / "examples" / "session.json"
START_SECONDS = 180.0
"""Timeout for a worker to import its library and warm up, in seconds."""

SECONDS = 120.0
"""Timeout of one compaction, in seconds."""

MOST_STARTS = 4
"""Number of consecutive starts without an answer before a worker is given up."""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The result of a library on messages.

    ``messages`` is None on failure, and then ``problem`` has the reason. ``seconds`` of
    the processor are those of the call alone, without conversions and without the stand-in's own;
    ``peak_bytes`` is how much the process grew meanwhile. ``mutated`` means that the call changed
    its input.
    """

    messages: list[dict[str, Any]] | None
    problem: str = ""
    seconds: float = 0.0
    model_calls: int = 0
    peak_bytes: int = 0
    mutated: bool = False


@dataclass(frozen=True, slots=True)
class Peer:
    """
    A library and its measured call.

    ``sizes`` is whether it takes a target in tokens, ``summarizes`` whether it calls a model,
    ``in_place`` whether it edits its input by design; ``problem`` why it cannot run here.
    """

    name: str
    package: str
    version: str
    call: str
    adapter: Path
    environment: str = ""
    sizes: bool = True
    summarizes: bool = False
    in_place: bool = False
    problem: str = ""

    @contextmanager
    def running(self, *, seconds: float = SECONDS) -> Iterator[Running]:
        """Run it, with a timeout for every compaction."""
        running = Running(self, seconds)
        try:
            yield running
        finally:
            running.close()

    def start(self) -> Worker:
        """Start its worker."""
        python = environments.python_of(self.environment) if self.environment else sys.executable
        return Worker([python, ADAPTERS / "serving.py", self.adapter], _offline(self))


class Running:
    """A peer whose worker is started on demand, and restarted after a failure."""

    def __init__(self, peer: Peer, seconds: float) -> None:
        self.peer = peer
        self.start_seconds = self.start_bytes = 0.0
        self._seconds = seconds
        self._worker: Worker | None = None
        self._failures, self._reason = 0, peer.problem

    def compact(
        self,
        messages: Sequence[dict[str, Any]],
        budget: int,
        *,
        question: str = "",
        summarizer: str = "extractive",
    ) -> Answer:
        """
        Compact messages in chat format.

        Args:
            messages: The messages; they are not changed.
            budget: Maximum size of the result, in tokens of `foldline.count`.
            question: The current question: the last user message for every library.
            summarizer: How the stand-in behaves; see ``KINDS`` and ``ACCOUNTS`` in
                ``peers/extractive.py``.
        """
        conversation = (
            [*messages, {"role": "user", "content": question}] if question else [*messages]
        )
        request = {"messages": conversation, "budget": budget, "rate": rate(conversation)}
        return self.ask(request | {"summarizer": summarizer})

    def ask(self, request: dict[str, Any]) -> Answer:
        """Send a request unchanged; any failure is reported in the answer."""
        if self._failures >= MOST_STARTS or self.peer.problem:
            return Answer(None, self._reason)
        try:
            reply = self._started().ask(request, self._seconds)
            answer = _answer(reply)
        except Broken as error:
            self.close()
            self._failures, self._reason = self._failures + 1, str(error)
            return Answer(None, str(error))
        self._failures = 0
        return answer

    def _started(self) -> Worker:
        if self._worker is None:
            self._worker = self.peer.start()
            reply = self._worker.listen(START_SECONDS)
            if not reply.get("ready"):
                raise Broken(str(reply.get("problem") or "it wrote nonsense at its start")[:300])
            self.start_seconds = float(reply.get("start_seconds", 0.0))
            self.start_bytes = float(reply.get("start_bytes", 0.0))
        return self._worker

    def close(self) -> None:
        """End its worker."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None


def _answer(reply: dict[str, Any]) -> Answer:
    problem, messages = reply.get("problem"), reply.get("messages")
    if problem:
        return Answer(None, str(problem)[:300])
    if not isinstance(messages, list) or not all(_is_message(each) for each in messages):
        raise Broken("it did not return a list of messages")
    try:
        return Answer(
            messages,
            seconds=float(reply["seconds"]),
            model_calls=int(reply["model_calls"]),
            peak_bytes=int(reply["peak_bytes"]),
            mutated=bool(reply["mutated"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Broken("it did not return figures") from error


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def peers(*names: str) -> list[Peer]:
    """
    Return all peers, or the named ones, Foldline first; environments are created on first use.

    Raises:
        ValueError: There is no peer with this name.
    """
    rows = tomllib.loads((ADAPTERS / "roster.toml").read_text(encoding="utf-8"))["peer"]
    missing = set(names) - {row["name"] for row in rows}
    if missing:
        raise ValueError(f"no such peers: {', '.join(sorted(missing))}")
    return [_peer(row) for row in rows if not names or row["name"] in names]


def _peer(row: dict[str, Any]) -> Peer:
    environment = row["environment"]
    return Peer(
        **row | {"adapter": ADAPTERS / row["adapter"]},
        version=locked(environment, row["package"]) if environment else foldline.__version__,
        problem=environments.prepare(environment) if environment else "",
    )


def locked(environment: str, package: str) -> str:
    """Return the version of a package in a lock file."""
    lock = environments.REQUIREMENTS / f"{environment}.lock"
    for line in lock.read_text(encoding="utf-8").splitlines():
        name, found, rest = line.partition("==")
        if found and name == package:
            return rest.split()[0]
    return "?"


def rate(messages: Sequence[dict[str, Any]]) -> float:
    """Return the tokens per character of these messages, by `foldline.count`."""
    # Characters are defined once, in a module that the workers load.
    sys.path.append(str(ADAPTERS))
    try:
        from task import characters
    finally:
        sys.path.remove(str(ADAPTERS))
    total = sum(map(characters, messages))
    return foldline.count(list(messages), format="openai-chat") / total if total else 0.25


def _offline(peer: Peer) -> dict[str, str]:
    """Return the environment variables that a library needs without a network."""
    # litellm carries the vocabulary that headroom counts with.
    site = environments.FOLDER / peer.environment / "lib"
    found = [*site.glob("python*/site-packages/litellm/litellm_core_utils/tokenizers")]
    return {"TIKTOKEN_CACHE_DIR": os.fspath(found[0])} if found else {}


def smoke(names: Sequence[str], share: float) -> None:
    """Print the result of every peer on the bundled session."""
    messages = json.loads(SESSION.read_text(encoding="utf-8"))["messages"]
    tokens = foldline.count(messages)
    print(f"{SESSION.name}: {len(messages)} messages, {tokens} tokens, to {share:.0%}")
    print(f"{'peer':24}{'version':10}{'messages':>9}{'tokens':>8}{'ms':>9}{'calls':>6}{'MB':>7}")
    for peer in peers(*names):
        with peer.running() as running:
            answer = running.compact(messages, int(tokens * share))
        head = f"{peer.name:24}{peer.version:10}"
        if answer.messages is None:
            print(f"{head}  {answer.problem}")
            continue
        left = foldline.count(answer.messages, format="openai-chat")
        print(
            f"{head}{len(answer.messages):9}{left:8}{answer.seconds * 1e3:9.1f}"
            f"{answer.model_calls:6}{answer.peak_bytes / 1e6:7.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--smoke", action="store_true", help="compact the bundled session")
    parser.add_argument("--share", type=float, default=0.1, help="share of the tokens to keep")
    options = parser.parse_args()
    if options.smoke:
        smoke(options.names, options.share)
        return
    for peer in peers(*options.names):
        print(f"{peer.name:24}{peer.version:10}{peer.problem or peer.call}")


if __name__ == "__main__":
    main()
