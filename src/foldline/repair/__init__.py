"""Repair of histories that break the rules of their provider, as recorded edits."""
