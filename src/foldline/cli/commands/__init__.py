"""The commands of ``foldline``: one file each, imported when it runs."""
