"""Change data at random: bytes, and values in JSON."""

from __future__ import annotations

import random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**30, 1.5, "", "x", "tool", [], {}, [None], [[]], {"type": "text"}),
    *({"type": "fold"}, {"type": "nothing"}, "\ud800", [1, "a"], {"role": "user"}, "ä\u2028\x1b"),
)


def changed_json(value: Any, draw: random.Random) -> Any:
    """Return a JSON value with a part of it changed or removed."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(list(value))
        if draw.random() < 0.15:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: changed_json(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.85:
        at = draw.randrange(len(value))
        return [*value[:at], changed_json(value[at], draw), *value[at + 1 :]]
    return draw.choice(STRANGE)


def changed_bytes(data: bytes, draw: random.Random) -> bytes:
    """Return bytes with a few of them changed or cut off."""
    out = bytearray(data)
    if draw.random() < 0.3:
        del out[draw.randrange(len(out)) :]
        return bytes(out)
    for _ in range(draw.choice((1, 3, 30))):
        out[draw.randrange(len(out))] = draw.randrange(256)
    return bytes(out)
