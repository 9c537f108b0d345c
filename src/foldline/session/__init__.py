"""The stateful API: a conversation that is stored, compacted when due, and never lost."""

from foldline.session.session import Session

__all__ = ["Session"]
