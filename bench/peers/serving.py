"""
The worker: loads one adapter and compacts what arrives, one JSON line in, one out.

    python serving.py ADAPTER.py

An adapter has ``load(messages)``, ``compact(loaded, task)`` and ``dump(compacted)``; messages are
in chat format, the loaded form is the library's. Only ``compact`` is timed, in seconds of the
processor, so that other load on this machine does not count.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import os
import resource
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from extractive import Standin
from task import Task

LARGEST_FILE = 256 * 2**20
"""Maximum size of a file that a worker writes, such as its log, in bytes."""

WARM_UP = [
    {"role": "user", "content": "How many lines has the file notes.txt?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_0",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"path": "notes.txt"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "call_0", "content": "a line of notes\n" * 400},
    {"role": "assistant", "content": "It has 400 lines."},
    {"role": "user", "content": "Thank you. What does the first one say?"},
]


def main() -> None:
    """Answer until the input ends."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    # Output of libraries goes to the log: the pipe carries answers only.
    pipe = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def tell(value: dict[str, Any]) -> None:
        pipe.write(json.dumps(value) + "\n")
        pipe.flush()

    before, began = resident(), time.process_time()
    try:
        adapter = _load(Path(sys.argv[1]))
        warm_up(adapter)
    except Exception as error:  # noqa: BLE001  # any exception of a library is its answer
        tell({"problem": sentence(error)})
        return
    seconds, grown = time.process_time() - began, resident() - before
    tell({"ready": True, "start_seconds": seconds, "start_bytes": grown})
    for line in sys.stdin:
        try:
            tell(answer(adapter, json.loads(line)))
        except Exception as error:  # noqa: BLE001  # as above
            tell({"problem": sentence(error)})


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("adapter", path)
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    return adapter


def warm_up(adapter: ModuleType) -> None:
    """Compact something small; a library that cannot will report it on the first request."""
    with contextlib.suppress(Exception):
        answer(adapter, {"messages": WARM_UP, "budget": 900, "rate": 0.25})


def answer(adapter: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    """Compact the messages of a request."""
    rate, budget = request["rate"], request["budget"]
    model = Standin(request.get("summarizer", "extractive"), rate=rate)
    task = Task(budget, rate, model)
    task = Task(budget, rate, model.within(task.summary))
    given = adapter.load(copy.deepcopy(request["messages"]))
    before = json.dumps(adapter.dump(given))
    level = reset_peak()
    began = time.process_time()
    out = adapter.compact(given, task)
    seconds = time.process_time() - began - model.tally.seconds
    grown = max(0, peak() - level)
    return {
        "messages": adapter.dump(out),
        "mutated": json.dumps(adapter.dump(given)) != before,
        "seconds": max(0.0, seconds),
        "model_calls": model.tally.calls,
        "peak_bytes": grown,
    }


def sentence(error: BaseException) -> str:
    """Describe an error in one line, without the paths of this machine."""
    said = " ".join(str(error).split()).replace(str(Path.home()), "~")
    return f"{type(error).__name__}: {said}"[:300].rstrip(": ")


def resident() -> int:
    """Return the current memory of this process, in bytes; 0 if unknown."""
    return _status("VmRSS")


def reset_peak() -> int:
    """Reset the peak memory; return the current memory, in bytes."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return resident()


def peak() -> int:
    """Return the peak memory since `reset_peak`, in bytes."""
    return _status("VmHWM")


def _status(field: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


if __name__ == "__main__":
    main()
