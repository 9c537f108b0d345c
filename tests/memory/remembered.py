"""What the tests of a memory share."""

START = 1_767_225_600.0  # 1 January 2026
DAY = 86_400.0


def contents(found):
    """Return what memories say; of a search or of a list."""
    return [getattr(one, "item", one).content for one in found]
