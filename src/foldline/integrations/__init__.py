"""Integrations with agent frameworks; each needs its own extra."""
