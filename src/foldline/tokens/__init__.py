"""Token counting: exact counters if they are installed, else a fitted estimate."""
