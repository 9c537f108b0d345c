"""A trace as one page of HTML: sums, then every event; no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from foldline.telemetry.trace import Sums

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --bar: #4a7bd0; --cut: #d08a4a; }
body { font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1rem; }
dl div { border: 1px solid var(--line); border-radius: .5rem; padding: .6rem .9rem; }
dt { opacity: .7; } dd { margin: 0; font-size: 1.4rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; overflow-wrap: anywhere; }
meter { width: 8rem; }
"""

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def page(events: Sequence[Mapping[str, Any]], sums: Sums) -> str:
    """
    Write a trace as HTML.

    Args:
        events: The newest events, oldest first, as a trace has them.
        sums: What all of them add up to.
    """
    rows = "\n".join(_row(event) for event in events if event)
    cards = "\n".join(
        f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in _cards(sums)
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Foldline trace</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>What happened to the context</h1>
<dl>
{cards}
</dl>
<h2>Events</h2>
<table>
<tr><th>time (UTC)</th><th>session</th><th>event</th><th>tokens</th><th>more</th></tr>
{rows}
</table>
</body>
</html>
"""


def _cards(sums: Sums) -> Iterable[tuple[str, str]]:
    yield "events", f"{sums.events:,}"
    for status, count in sorted(sums.compactions.items()):
        yield f"compactions {status}", f"{count:,}"
    yield "tokens freed", f"{sums.freed:,}"
    yield "outputs cut", f"{sums.bounded:,}"
    yield "warnings", f"{sums.warnings:,}"
    yield "requests to a model", f"{sums.requests:,}"
    yield "tokens read / written", f"{sums.input_tokens:,} / {sums.output_tokens:,}"
    yield "US dollars", f"{sums.usd:,.4f}"
    yield "seconds", f"{sums.seconds:,.1f}"
    if sums.skipped:
        yield "lines that are no events", f"{sums.skipped:,}"


def _row(event: Mapping[str, Any]) -> str:
    cells = (
        escape(_time(event.get("time"))),
        escape(str(event.get("session", ""))[:80]),
        escape(_what(event)),
        _tokens(event),
        escape(_more(event)),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _time(value: Any) -> str:
    try:
        return datetime.fromtimestamp(float(value), UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _what(event: Mapping[str, Any]) -> str:
    words = (event.get("trigger"), event.get("event"), event.get("status"))
    return " · ".join(str(word)[:40] for word in words if word)


def _tokens(event: Mapping[str, Any]) -> str:
    """Draw what a receipt, or an event, says of tokens before and after."""
    receipt = event.get("receipt")
    told = receipt if isinstance(receipt, Mapping) else event
    before, after = told.get("tokens_before"), told.get("tokens_after")
    if not isinstance(before, int) or not isinstance(after, int) or before <= 0:
        pressure = event.get("pressure")
        now = pressure.get("tokens") if isinstance(pressure, Mapping) else event.get("tokens")
        return f"{now:,}" if isinstance(now, int) else ""
    meter = f'<meter max="{before}" value="{max(0, min(after, before))}"></meter>'
    return f"{before:,} → {after:,} {meter}"


def _more(event: Mapping[str, Any]) -> str:
    receipt, pressure = event.get("receipt"), event.get("pressure")
    if isinstance(receipt, Mapping):
        warnings = receipt.get("warnings")
        words = [str(receipt.get("reason", ""))]
        words += [str(item) for item in warnings] if isinstance(warnings, list) else []
        return "; ".join(words)[:600]
    if isinstance(pressure, Mapping):
        share = pressure.get("fraction")
        full = f", {share:.0%} full" if isinstance(share, float) and share < 1e6 else ""
        return f"{pressure.get('level')}"[:20] + full
    return str(event.get("error") or "")[:200]
