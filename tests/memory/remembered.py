"""Helpers shared by the tests of a memory."""

START = 1_767_225_600.0  # 1 January 2026
DAY = 86_400.0


def contents(found):
    """Return the contents of memories, of a search or a list."""
    return [getattr(one, "item", one).content for one in found]
