"""Differences in the rules of providers that matter to a repair, by dialect."""

from __future__ import annotations

ANY_ORDER = frozenset({"openai-responses", "codex"})
"""A result may follow its call anywhere."""

BY_TURN = frozenset({"anthropic", "claude-code"})
"""
Adjacent assistant messages are one turn: results may follow all of them, and reasoning is allowed
only at the beginning. No call id occurs twice in a conversation, and no text is blank.
"""

ONE_ANSWER = frozenset({"gemini", "gemini-contents", "gemini-cli"})
"""
One message holds all results of a turn, calls do not follow a message of the model, and results
pair by name too, so that ids may repeat.
"""
