"""
Context engineering for long-running LLM agents.

    r = foldline.compact(messages, budget=8_000)     # any wire format in, the same out
    r.messages, r.receipt

    s = foldline.Session.open("agent.db", "session-1", window=200_000)
    s.append(message)
    s.view()
"""

from foldline.lazy import attach_stub

__version__ = "0.1.0"

__getattr__, __dir__ = attach_stub(__name__)
