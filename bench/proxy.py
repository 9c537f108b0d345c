"""
Measure the proxy as a separate process: prompt cache, price, added latency, and load.

    python bench/proxy.py [SHARED] [--quick] [--json FILE] [--windows 64000,200000] [--every N]
                          [--seconds N] [--without-sessions]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

import cuts
from cost_section import prices
from foldline.core.config import Config
from foldline.engine.policies import configure
from foldline.evaluation.pricing import in_session, nothing
from foldline.evaluation.sections import Cell, Goal, ReportSection, ReportTable
from part import finish, options_of
from payers import counter
from proxy_load import Times, difference, latency, load, proxy, started
from proxy_replayed import Recorder, Replayed, histories, inside, through_proxy

MODEL = "claude-sonnet-4-5"
SESSIONS, RATE, SECONDS = 200, 20.0, 60.0
REQUESTS = 600
WIRE = str(Path(__file__).with_name("proxy_wire.py"))

TEXT = """\
The proxy runs as a separate process in front of a provider on the same machine. Recorded \
sessions are sent through it request by request; the requests to its provider are priced as in \
the section on cost, next to the same sessions without a proxy and with the library alone. A \
request is "kept" if it begins with every byte of the messages sent before it. Latency is of a \
body of 85 KB with an answer of 22 events, requests in turn to the provider itself and to each \
proxy."""


def section(options: argparse.Namespace) -> ReportSection:
    """Measure everything."""
    tables, goals = list[ReportTable](), list[Goal]()
    if cuts.there(options.shared) and not options.without_sessions:
        cases = histories(options.shared, options.every * (12 if options.quick else 1))
        for window in map(int, options.windows.split(",")):
            table, more = _cache(cases, window)
            tables.append(table)
            goals += more
    for table, more in (_latency(options), _load(options)):
        tables.append(table)
        goals += more
    return ReportSection("proxy", "The proxy", TEXT, tuple(tables), (), tuple(goals))


def _cache(
    cases: Sequence[tuple[str, list[object]]], window: int
) -> tuple[ReportTable, list[Goal]]:
    # Tool outputs are cut as late as the proxy cuts them.
    outputs = {"hard": window // 2, "soft": window // 4}
    config, counts, recorder = Config().replace(outputs=outputs), counter(), Recorder()
    shows = (in_session(configure(config), window, counts, config) for _ in cases)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(*proxy(recorder.url, "--window", str(window), "--db", f"{folder}/a.db")) as ours,
        started(*proxy(recorder.url, "--dry-run")) as idle,
    ):
        found: dict[str, Replayed] = {
            "no proxy": inside(cases, repeat(nothing()), window),
            "proxy, dry run": through_proxy(cases, idle.url, recorder, window),
            "library": inside(cases, shows, window),
            "proxy": through_proxy(cases, ours.url, recorder, window),
        }
    recorder.shutdown()
    usd = {name: prices(MODEL).of(one.bill.usage) for name, one in found.items()}
    rows = [_paid(name, one, usd[name]) for name, one in found.items()]
    ours_, dry = found["proxy"], found["proxy, dry run"]
    goals = [
        Goal("requests kept between compactions", ours_.kept / ours_.between, "", least=1.0),
        Goal("requests kept in a dry run", dry.kept / dry.between, "", least=1.0),
        Goal("price beside the library's", usd["proxy"] / usd["library"], "×", 1.02, 0.98),
    ]
    columns = ("", "requests", "compactions", "kept", "cached share", "US dollars", "too long")
    title = f"{len(cases)} recorded sessions, a window of {window:,} tokens"
    return ReportTable(title, columns, tuple(rows), f"Priced as {MODEL}."), goals


def _paid(name: str, one: Replayed, usd: float) -> tuple[Cell, ...]:
    kept = f"{one.kept:,} of {one.between:,}" if one.between else None
    made = one.compactions if one.between else None
    bill = one.bill
    return (name, bill.requests, made, kept, round(one.cached, 4), round(usd, 2), bill.over)


def _latency(options: argparse.Namespace) -> tuple[ReportTable, list[Goal]]:
    requests = REQUESTS // (6 if options.quick else 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(WIRE) as upstream,
        started(*proxy(upstream.url, "--no-archive")) as bare,
        started(*proxy(upstream.url, "--db", f"{folder}/a.db")) as archive,
    ):
        urls = {"direct": upstream.url, "no archive": bare.url, "archive": archive.url}
        asyncio.run(latency(urls, 2 * 40))
        before = archive.cpu()
        times = asyncio.run(latency(urls, requests))
        cpu = 1_000 * (archive.cpu() - before) / requests
    direct = times["direct"]
    rows = [_row(name, one) for name, one in times.items()]
    added = {part: difference(times["archive"], direct, part) for part in (0.5, 0.99)}
    without = {part: difference(times["no archive"], direct, part) for part in (0.5, 0.99)}
    for name, one in (("added, no archive", without), ("added", added)):
        rows.append((name, *(round(v, 2) for part in (0.5, 0.99) for v in one[part])))
    columns = ("", "first byte p50", "last byte p50", "first byte p99", "last byte p99")
    note = f"Milliseconds, {len(direct.last):,} requests each. CPU: {cpu:.1f} ms a request."
    goals = [
        Goal("added latency, p50", added[0.5][1], "ms", most=6.0),
        Goal("added latency, p99", added[0.99][1], "ms", most=20.0),
    ]
    return ReportTable("What a request takes", columns, tuple(rows), note), goals


def _row(name: str, times: Times) -> tuple[Cell, ...]:
    return (name, *(round(value, 2) for part in (0.5, 0.99) for value in times.ms(part)))


def _load(options: argparse.Namespace) -> tuple[ReportTable, list[Goal]]:
    seconds = options.seconds / (6 if options.quick else 1)
    with (
        tempfile.TemporaryDirectory() as folder,
        started(WIRE) as upstream,
        started(*proxy(upstream.url, "--db", f"{folder}/a.db")) as ours,
    ):
        asyncio.run(load(ours.url, SESSIONS, 4 * RATE, SESSIONS / RATE / 4))
        small, began = ours.resident(), ours.cpu()
        times = asyncio.run(load(ours.url, SESSIONS, RATE, seconds))
        cpu, large = (ours.cpu() - began) / seconds, ours.resident()
    row = (SESSIONS, RATE, len(times.last), times.errors, *times.ms(0.5), *times.ms(0.99))
    rounded = tuple(round(value, 2) for value in row)
    columns = ("sessions", "requests a second", "answered", "errors", "first byte p50")
    columns += ("last byte p50", "first byte p99", "last byte p99")
    note = (
        f"Milliseconds. The proxy took {cpu:.0%} of one core; its memory went from {small:.0f} MB "
        f"to {large:.0f} MB."
    )
    table = ReportTable(
        f"{SESSIONS} sessions for {seconds:.0f} seconds", columns, (rounded,), note
    )
    return table, [
        Goal("errors", float(times.errors), "", most=0.0),
        Goal("memory", large, "MB", most=400.0),
    ]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("shared", nargs="?", type=Path, default=cuts.SHARED)
    parser.add_argument("--windows", default="64000,200000")
    parser.add_argument("--every", type=int, default=1, help="use every Nth session only")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the load")
    parser.add_argument("--without-sessions", action="store_true", help="latency and load only")
    options = parser.parse_args()
    if not cuts.there(options.shared):
        print(f"No transcripts in {options.shared}: the cache is not measured.", file=sys.stderr)
    finish(section(options), options)


if __name__ == "__main__":
    main()
