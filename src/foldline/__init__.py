"""
Context engineering for long-running LLM agents.

    r = foldline.compact(messages, budget=8_000)     # any wire format in, the same out
    r.messages, r.receipt

    s = foldline.Session.open("agent.db", "session-1", window=200_000)
    s.append(message)
    s.view()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.api import Compaction, compact, count
    from foldline.archive import Archive
    from foldline.core.asks import Ask, Reply
    from foldline.core.budget import Budget
    from foldline.core.config import Config
    from foldline.core.spending import Limits
    from foldline.core.strategy import Policy
    from foldline.engine.policies import policy
    from foldline.engine.receipt import Receipt
    from foldline.errors import (
        BudgetError,
        CannotFit,
        ContextOverflow,
        FoldlineError,
        InputError,
        MissingExtra,
        ModelError,
        RecallError,
        StoreError,
        UnknownFormat,
    )
    from foldline.session import Session
    from foldline.session.hooks import Cancel, Hooks
    from foldline.settings import load_config
    from foldline.telemetry.spans import Telemetry
    from foldline.telemetry.trace import Trace

__version__ = "0.1.0"

_HOMES = {
    "Archive": "archive",
    "Ask": "core.asks",
    "Budget": "core.budget",
    "BudgetError": "errors",
    "Cancel": "session.hooks",
    "CannotFit": "errors",
    "Compaction": "api",
    "Config": "core.config",
    "ContextOverflow": "errors",
    "FoldlineError": "errors",
    "Hooks": "session.hooks",
    "InputError": "errors",
    "Limits": "core.spending",
    "MissingExtra": "errors",
    "ModelError": "errors",
    "Policy": "core.strategy",
    "RecallError": "errors",
    "Receipt": "engine.receipt",
    "Reply": "core.asks",
    "Session": "session",
    "StoreError": "errors",
    "Telemetry": "telemetry.spans",
    "Trace": "telemetry.trace",
    "UnknownFormat": "errors",
    "compact": "api",
    "count": "api",
    "load_config": "settings",
    "policy": "engine.policies",
}

__all__ = [
    "Archive",
    "Ask",
    "Budget",
    "BudgetError",
    "Cancel",
    "CannotFit",
    "Compaction",
    "Config",
    "ContextOverflow",
    "FoldlineError",
    "Hooks",
    "InputError",
    "Limits",
    "MissingExtra",
    "ModelError",
    "Policy",
    "RecallError",
    "Receipt",
    "Reply",
    "Session",
    "StoreError",
    "Telemetry",
    "Trace",
    "UnknownFormat",
    "compact",
    "count",
    "load_config",
    "policy",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
