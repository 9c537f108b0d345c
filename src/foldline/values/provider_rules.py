"""What the rules of providers differ in, as far as a repair has to know, by dialect."""

from __future__ import annotations

ANY_ORDER = frozenset({"openai-responses", "codex"})
"""A result only has to come after its call."""

BY_TURN = frozenset({"anthropic", "claude-code"})
"""
Neighbouring assistant messages are one turn: results may follow all of them, and reasoning stands
only at the beginning. No call id occurs twice in a conversation, and no text is blank.
"""

ONE_ANSWER = frozenset({"gemini", "gemini-contents", "gemini-cli"})
"""
One message holds all results of a turn, calls do not follow a message of the model, and results
pair by name too, so that ids may repeat.
"""
