"""Where sessions are kept: in a SQLite file, or in memory."""
