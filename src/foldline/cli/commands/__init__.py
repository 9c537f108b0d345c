"""The commands of ``foldline``: a file each, imported when it is called."""
