"""A session generated for the measure of facts: an agent repairs an export, among long outputs."""

from __future__ import annotations

import json
import random
from typing import Any

from histories import Fact, History

WORDS = [
    "batch",
    "cursor",
    "ledger",
    "queue",
    "shard",
    "window",
    "replay",
    "offset",
    "tenant",
    "bucket",
    "merge",
    "retry",
]

Step = tuple[str, str, str, str]
"""The agent's text, the tool it calls, the argument, and the key line of the result."""

TASK = (
    "The nightly export of the orders service drops rows since Tuesday. Find out why and repair "
    "it. Do not touch the billing schema: the auditors froze it until March. Every change needs a "
    "test that fails without it."
)

STEPS: tuple[Step, ...] = (
    ("I begin with the export job.", "read_file", "orders/export_job.py", ""),
    (
        "Now the logs of that night.",
        "bash",
        "tail -n 400 logs/export.log",
        "ERROR export: CursorExpired: cursor 88213 is older than 900 s",
    ),
    (
        "The cursor expires in the middle of the export. I look at who opens it.",
        "grep",
        "open_cursor",
        "orders/paging.py:41: cursor = open_cursor(conn, ttl=900)",
    ),
    (
        (
            "The time to live is 900 s, and since Tuesday a run takes about 1,240 s, because the "
            "index on shipped_at was dropped by migration 0187."
        ),
        "read_file",
        "migrations/0187_drop_shipped_index.sql",
        "DROP INDEX orders_shipped_at_idx;",
    ),
    (
        (
            "**Root cause:** migration 0187 dropped the index on shipped_at, so that the export "
            "outlives its cursor and the rows of the last pages are lost without an error to the "
            "caller."
        ),
        "bash",
        "git log -3 migrations/",
        "commit 5e1f9ab by dana: drop unused indexes",
    ),
    (
        "First attempt: I raise the time to live to 3600 in orders/paging.py.",
        "edit_file",
        "orders/paging.py",
        "",
    ),
    (
        (
            "Raising the ttl did not help: the database proxy closes idle cursors after 600 s "
            "whatever the client asks for. I take that change back."
        ),
        "bash",
        "git checkout orders/paging.py",
        "",
    ),
    (
        (
            "I decided for keyset paging instead of cursors, because no cursor has to stay open "
            "between pages and the proxy cannot end it."
        ),
        "write_file",
        "orders/keyset.py",
        "",
    ),
    (
        "The tests of paging.",
        "bash",
        "pytest tests/test_paging.py",
        "FAILED tests/test_paging.py::test_last_page_is_full - assert 499 == 500",
    ),
    (
        (
            "Off by one: the last row of a page was compared with `>=`; with `>` on (shipped_at, "
            "id) the page is full."
        ),
        "edit_file",
        "orders/keyset.py",
        "",
    ),
    ("Again.", "bash", "pytest tests/test_paging.py", "42 passed in 3.18s"),
    (
        "How many rows were lost?",
        "bash",
        "python tools/compare.py --since tuesday",
        "missing rows: 18,204 of 2,911,377 in 3 nights",
    ),
    (
        "I look for others who use the cursor.",
        "grep",
        "open_cursor(",
        "reports/weekly.py:77: rows = open_cursor(conn, ttl=900)",
    ),
    (
        (
            "The weekly report has the same defect in reports/weekly.py; I leave it until the "
            "export is deployed."
        ),
        "read_file",
        "reports/weekly.py",
        "",
    ),
    (
        (
            "Rebuilding the index online was refused: lock_timeout on the replica, so that is no "
            "way out."
        ),
        "bash",
        "psql -f rebuild.sql",
        "ERROR: canceling statement due to lock timeout",
    ),
    (
        "The configuration of the deployment.",
        "read_file",
        "deploy/export.yaml",
        "page_size: 500 # above 750 the proxy truncates the response",
    ),
    (
        (
            "The export is switched to keyset paging on branch fix/keyset-export and all 42 tests "
            "pass; nothing is deployed."
        ),
        "bash",
        "git status",
        "On branch fix/keyset-export",
    ),
    ("Now the backfill of the lost rows.", "read_file", "tools/backfill.py", ""),
)

WISHES = {
    8: "One more thing: the backfill may only run between 02:00 and 04:00 UTC, support needs the "
    "replica otherwise.",
    13: "Fine. We still have to ask Marta whether partners want the missing rows in one file or "
    "per night; that is open.",
}
"""User messages after a step."""

ROWS = (
    (
        "constraint",
        "What must not be touched?",
        "The billing schema, frozen until March.",
        [["billing schema"], ["froze", "frozen"], ["march"]],
    ),
    (
        "constraint",
        "What does every change need?",
        "A test that fails without it.",
        [["test that fails without it"]],
    ),
    (
        "constraint",
        "When may the backfill run?",
        "Between 02:00 and 04:00 UTC.",
        [["backfill"], ["between 02:00 and 04:00"]],
    ),
    (
        "cause",
        "Why are rows lost?",
        "Migration 0187 dropped the index, so the cursor expires.",
        [["0187"], ["dropped the index"], ["outlives its cursor"]],
    ),
    (
        "cause",
        "Why did a page have 499 rows?",
        "Compared with >= instead of >.",
        [["off by one"], ["`>=`"]],
    ),
    (
        "decision",
        "What replaces cursors, and why?",
        "Keyset paging: no cursor stays open.",
        [["keyset paging instead of cursors"], ["no cursor has to stay open"]],
    ),
    (
        "decision",
        "What becomes of the weekly report?",
        "Left until the export is deployed.",
        [["reports/weekly.py"], ["until the export is deployed"]],
    ),
    (
        "state",
        "Where is the work, and is it deployed?",
        "On fix/keyset-export, not deployed.",
        [["fix/keyset-export"], ["nothing is deployed"]],
    ),
    ("state", "Do the tests of paging pass?", "42 pass.", [["42 tests pass", "42 passed"]]),
    (
        "open",
        "What has to be asked of whom?",
        "Marta: one file or one a night.",
        [["marta"], ["one file or per night"]],
    ),
    (
        "value",
        "How many rows were lost?",
        "18,204 in three nights.",
        [["18,204"], ["missing", "lost"]],
    ),
    (
        "value",
        "What is the limit of page_size?",
        "750: above, the proxy truncates.",
        [["page_size"], ["750"], ["truncates"]],
    ),
    (
        "negative",
        "Did a longer time to live help?",
        "No, the proxy ends cursors after 600 s.",
        [["ttl did not help"], ["600 s"]],
    ),
    (
        "negative",
        "Can the index be rebuilt online?",
        "No: lock timeout.",
        [["rebuilding the index online was refused"], ["lock"]],
    ),
    (
        "error",
        "What did the export log?",
        "CursorExpired, older than 900 s.",
        [["cursorexpired"], ["900 s"]],
    ),
    (
        "error",
        "Which test failed, and how?",
        "test_last_page_is_full, 499 == 500.",
        [["test_last_page_is_full"], ["499 == 500"]],
    ),
)


def made_history(seed: int = 5) -> History:
    """Return the session with its facts; the text around them is drawn with a seed."""
    draw = random.Random(seed)  # noqa: S311  # made-up outputs
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK}]
    for number, (text, tool, argument, line) in enumerate(STEPS):
        call = {"name": tool, "arguments": json.dumps({"input": argument})}
        calls = [{"id": f"call_{number}", "type": "function", "function": call}]
        messages += [
            {"role": "assistant", "content": text, "tool_calls": calls},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": _output(draw, line)},
        ]
        if number in WISHES:
            messages += [
                {"role": "assistant", "content": "I go on."},
                {"role": "user", "content": WISHES[number]},
            ]
    keys = ("kind", "question", "answer", "must")
    facts = tuple(Fact.of(dict(zip(keys, row, strict=True))) for row in ROWS)
    return History("made up", messages, facts)


def _output(draw: random.Random, line: str) -> str:
    """Return a long output with its key line somewhere in it."""
    lines = [_code(draw) for _ in range(draw.randrange(60, 110))]
    if line:
        lines.insert(draw.randrange(len(lines)), line)
    return "\n".join(lines)


def _code(draw: random.Random) -> str:
    first, second, third = draw.sample(WORDS, 3)
    return f"    self.{first}_{second} = {third}({draw.randrange(10_000)}, {second}.{first})"
