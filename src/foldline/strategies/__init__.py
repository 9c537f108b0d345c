"""The rungs of the ladder, one idea a file; standard library and `foldline.core` only."""
