"""Building blocks of generated tool outputs: questions, names, paths, times."""

# ruff: noqa: E501  # tools write long lines

from __future__ import annotations

import random
from dataclasses import dataclass

FIRST = ("Mei", "Yusuf", "Ann", "Olga", "Ravi", "Noah", "Sofia", "Ivan", "Lena", "Omar", "Isabella", "Chen")  # fmt: skip
LAST = (
    "Patel",
    "Rossi",
    "Li",
    "Kovacs",
    "Johnson",
    "Davis",
    "Garcia",
    "Muller",
    "Santos",
    "Brown",
)
WORDS = ("parser", "cache", "session", "router", "ledger", "token", "index", "queue", "export", "invoice", "schema",
         "worker", "search", "upload", "quota", "billing", "render", "theme", "audit", "sync")  # fmt: skip
STREETS = ("Sunset Drive", "Oak Street", "Hill Road", "River Lane", "Park Avenue", "Elm Court")
ODD = (
    "clock moved backwards by 417 ms, leases are kept",
    "certificate store reloaded by hand from console ttyS0",
    "unexpectedly large batch accepted after override flag was set",
    "fallback mirror in Reykjavik took over the writes",
)
ODD_ZH = ("时钟回拨四百毫秒,租约保留", "运维手动切换到备用机房", "收到未知版本的握手请求,已忽略")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about an output, in ``words``; the ``needles`` must be left of it."""

    about: str
    words: str
    needles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a tool, its command, and questions about it."""

    kind: str
    command: str
    text: str
    questions: tuple[Question, ...]


def person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def source_path(rng: random.Random, ending: str = ".py") -> str:
    depth = rng.randrange(1, 4)
    return (
        "/".join(("src", *rng.choices(WORDS, k=depth)))
        + f"/{rng.choice(WORDS)}_{rng.choice(WORDS)}{ending}"
    )


def digits(rng: random.Random, size: int) -> str:
    return f"{rng.getrandbits(size * 4):0{size}x}"


def stamp(second: int) -> str:
    return f"2026-03-{1 + second // 86_400:02} {second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
