"""Counting tokens: exact counters where they are installed, else a fitted estimate."""
