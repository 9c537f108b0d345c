"""Foldline as an MCP server: recall, past sessions, compaction, notes and memory for any agent."""
