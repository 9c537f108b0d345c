"""The rungs of the ladder, one per file; standard library and `foldline.core` only."""
