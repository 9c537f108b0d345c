"""The stateful front door: a conversation that is kept, compacted when due, and never lost."""

from foldline.session.session import Session

__all__ = ["Session"]
