"""Readers and writers of the session files of agents, one module each."""
