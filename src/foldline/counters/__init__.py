"""What counts a text's tokens: exact vocabularies on this machine, or the estimate."""
