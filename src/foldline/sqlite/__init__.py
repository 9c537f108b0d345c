"""SQLite files that several processes share: sessions, memories, knowledge."""
