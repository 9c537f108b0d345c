"""Summarization: a snapshot, or a model's account that is checked and repaired."""
