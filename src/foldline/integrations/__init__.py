"""Bridges into the agent frameworks that people already use; each needs its own extra."""
