"""Stores of sessions: in SQLite, in PostgreSQL, or in memory."""
