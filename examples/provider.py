"""
A provider for the examples: the real one if its key is set, else a local one.

The local one answers from a small script, over HTTP like any other. The conversation
is the same for all examples: the user has twelve modules of a program reviewed, one by one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console

from foldline import Session
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool, ReceivedRequest, Step

SYSTEM = "You review the modules of a billing program. Read a module before you speak of it."

QUESTIONS = tuple(
    f"Please review billing/module_{number:02d}.py. It has to round to {number + 1} digits."
    for number in range(12)
)

WINDOW = 6_000
"""A window in tokens that is too small for twelve modules."""

SCREEN = Console(highlight=False, width=min(100, Console().width))


@dataclass(frozen=True)
class Provider:
    """
    The address of a provider.

    ``openai_url`` and ``url`` are None for the real provider, whose address its SDK knows.
    """

    model: str
    key: str
    openai_url: str | None = None
    url: str | None = None


@contextmanager
def provider(variable: str, model: str) -> Iterator[Provider]:
    """
    Yield the provider.

    Args:
        variable: The environment variable that may hold its key.
        model: The model to use there.
    """
    key = os.environ.get(variable)
    if key:
        yield Provider(model, key)
        return
    SCREEN.print(f"[dim]{variable} is not set: a scripted provider on this machine answers.[/]\n")
    with ScriptedServer(answer, window=WINDOW) as server:
        yield Provider("scripted", "no key", server.openai_url, server.url)


def read_module(path: str) -> str:
    """Read a module of the program."""
    seed = sum(path.encode())
    lines = (
        f"def charge_{seed + n}(amount: Decimal) -> Decimal:\n"
        f"    return amount.quantize(Decimal('0.{'0' * (n % 5)}1'))  # rule {seed * n}"
        for n in range(20)
    )
    return "\n".join([f"# {path}", *lines])


def answer(request: ReceivedRequest) -> Step:
    """Read the module that the user requested last, then report that it is fine."""
    last = request.transcript.messages[-1]
    if last.results:
        read = re.findall(r"# (billing/\S+)", request.last)
        return Answer(f"{read[-1] if read else 'The module'} rounds as it has to.")
    paths = re.findall(r"billing/module_\d\d\.py", request.last)
    if not paths:
        return Answer("Which module do you mean?")
    return CallTool("read_module", {"path": paths[-1]})


def tell(number: int, answer: str, session: Session) -> None:
    """Print the result of a question."""
    compacted = sum(receipt.status == "compacted" for receipt in session.receipts)
    SCREEN.print(
        f"{number:2}  {answer[:42]:42} {len(session.messages):3} messages, "
        f"{session.tokens:5,} tokens shown, {compacted}×"
    )


def finish(session: Session) -> None:
    """Print the last receipt, and recall something that the model no longer sees."""
    receipts = [receipt for receipt in session.receipts if receipt.recall]
    if not receipts:
        return
    SCREEN.print(f"\nThe last receipt: {receipts[-1]}")
    handle, words = next(iter(receipts[-1].recall.items()))
    SCREEN.print(f"Recalled under {handle} ({words}):", markup=False)
    text = session.recall(handle, max_chars=160).text
    SCREEN.print("    " + text.replace("\n", "\n    "), markup=False)
