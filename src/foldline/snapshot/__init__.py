"""The snapshot that stands for folded messages: what it says, and in which order."""
