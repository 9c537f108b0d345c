"""The language of the terminal: words, pipes and lists; no shell ever reads it."""
