"""Changed inputs: for every reader of files, and for compacting and recalling in every format."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, Final

import foldline
from cuts import SHARED
from foldline import Session
from foldline.api import compact_transcript
from foldline.errors import FoldlineError
from foldline.formats.files import FILE_FORMATS, detect_file, file_format, read_file
from foldline.formats.source import TranscriptSource
from foldline.stores.memory import MemoryStore
from foldline.testing.wires import DIALECT_NAMES, wire
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.tokens import TokenCounter
from hostile_changes import changed_bytes, changed_json

LARGEST: Final = 100_000
"""Maximum size of a recorded file to change, in bytes."""

EACH: Final = 3
"""Number of recorded files of each kind to change."""

COUNTER: Final = EstimatedCounter("o200k")
POLICY: Final = foldline.policy("default")


def conversation() -> list[Message]:
    """Return a conversation with calls, results and text in other scripts."""
    out = [Message("system", (Text("Be brief."),)), Message("user", (Text("Repair 构建."),))]
    for number in range(8):
        call = ToolCall(f"call_{number}", "read_file", json.dumps({"path": f"src/{number}.py"}))
        text = f"line {number}: it fails\n" * 60
        result = ToolResult(f"call_{number}", (Text(text),), "read_file")
        out += [
            Message("assistant", (Text(f"Look at {number}."), call)),
            Message("tool", (result,)),
        ]
    return [*out, Message("assistant", (Text("Done."),)), Message("user", (Text("And now?"),))]


def files() -> list[tuple[str, bytes]]:
    """Return files to change, with their formats: recorded ones, if any, and ours."""
    found: dict[str, list[bytes]] = {}
    for name in DIALECT_NAMES:
        body = json.dumps(wire(conversation(), name), default=str).encode()
        found.setdefault("wire", []).append(body)
    folder = SHARED / "data" / "transcripts"
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        data = _small(path)
        try:
            kind = detect_file(TranscriptSource.of(data)).name if data else ""
        except FoldlineError:
            continue
        if kind and len(found.setdefault(kind, [])) < EACH:
            found[kind].append(data)
    return [(kind, data) for kind, all_of_it in found.items() for data in all_of_it]


def _small(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() and path.stat().st_size <= LARGEST else b""


def read(kind: str, data: bytes, draw: random.Random) -> None:
    """Read a changed file, compact its content, and write it again."""
    name = draw.choice((kind, kind, "auto", draw.choice(list(FILE_FORMATS))))
    if draw.random() < 0.05:
        data = changed_bytes(gzip.compress(data, 1), draw)
    recording = read_file(data, format=name)
    file_format(recording.format).encode(recording)
    for one in recording.conversations[:2]:
        if one.transcript.messages:
            compact_transcript(
                one.transcript, TokenCounter(COUNTER), foldline.Budget.of_tokens(600), POLICY
            )


def changed_file(data: bytes, draw: random.Random) -> bytes:
    """Change a file: its bytes, its JSON, or the JSON of one line."""
    if draw.random() < 0.3:
        return changed_bytes(data, draw)
    try:
        return json.dumps(changed_json(json.loads(data), draw)).encode()
    except ValueError:
        lines = data.split(b"\n")
        at = draw.randrange(len(lines))
        try:
            lines[at] = json.dumps(changed_json(json.loads(lines[at]), draw)).encode()
        except ValueError:
            return changed_bytes(data, draw)
        return b"\n".join(lines)


def compact(name: str, messages: Any, draw: random.Random) -> None:
    """Compact changed messages, append them to a session, and recall everything out of view."""
    window = draw.choice((700, 1_200, 3_000))
    foldline.compact(messages, budget=draw.choice((50, 400, 1_500)), counter=COUNTER)
    items = messages if isinstance(messages, list) else messages.get("messages") or []
    store = MemoryStore()
    with Session.open(
        None, "s", store=store, window=window, format=name, counter=COUNTER
    ) as session:
        session.extend(items)
        session.compact()
        session.view()
        for receipt in session.receipts:
            for handle in receipt.recall:
                session.recall(handle, query="line", max_tokens=200)


def fuzz(count: int, seed: int = 1) -> tuple[Counter[str], list[str]]:
    """
    Change inputs and use them, half of them as files, half as messages.

    Returns:
        The number of attempts of each kind, and errors that are not Foldline's own.
    """
    draw, kinds, wrong = random.Random(seed), Counter[str](), []  # noqa: S311
    known = files()
    wires = {name: wire(conversation(), name) for name in DIALECT_NAMES}
    for number in range(count):
        if number % 2:
            kind, data = known[number // 2 % len(known)]
            use = partial(read, kind, changed_file(data, draw), draw)
        else:
            name = DIALECT_NAMES[number // 2 % len(DIALECT_NAMES)]
            kind, use = name, partial(compact, name, changed_json(wires[name], draw), draw)
        kinds[kind] += 1
        try:
            use()
        except FoldlineError:
            continue
        except Exception as error:  # noqa: BLE001  # this is what the attack searches for
            wrong.append(f"input {number} ({kind}): {type(error).__name__}: {error}"[:300])
    return kinds, wrong
