"""Settings for four kinds of work, as data; `foldline.Config.scenario` makes them."""

from __future__ import annotations

from typing import Any, Final

SCENARIOS: Final[dict[str, dict[str, Any]]] = {
    # Files are read, changed and read again: keep more results, and more of the newest work.
    "coding": {
        "clearing": {"keep": 5},
        "tail": {"fraction": 0.15},
        "summary": {"max_tokens": 10_000},
        "files": {"count": 8, "total_tokens": 80_000},
    },
    # Short exchanges that are soon over: little of the old is needed again.
    "support": {
        "thresholds": {"clear_at": 0.60, "warn_at": 0.75, "act_at": 0.85, "target": 0.35},
        "clearing": {"keep": 1},
        "outputs": {"soft": 4_000, "hard": 8_000},
        "summary": {"max_tokens": 5_000},
        "files": {"count": 0},
    },
    # Many sources whose words matter: act early, keep much, bound outputs late.
    "research": {
        "thresholds": {"target": 0.50},
        "economy": {"keep": 80_000},
        "tail": {"fraction": 0.15},
        "outputs": {"soft": 12_000, "hard": 30_000, "style": "salient"},
        "summary": {"max_tokens": 13_000},
        "files": {"count": 10, "file_tokens": 8_000, "total_tokens": 100_000},
    },
    # As few tokens as can be: a short tail, short outputs, nothing put back.
    "lightweight": {
        "thresholds": {"target": 0.25},
        "tail": {"fraction": 0.05},
        "clearing": {"keep": 1},
        "outputs": {"soft": 2_000, "hard": 6_000},
        "summary": {"max_tokens": 3_000},
        "files": {"count": 0},
    },
}
"""By name, what differs from the defaults; the rest of `foldline.Config` stays as it is."""
