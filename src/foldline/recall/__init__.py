"""Recall: from a handle back to what was really said, whole, in part, or by a question."""

from foldline.recall.holdings import Folded, Holdings
from foldline.recall.recall_handle import Recalled, recall

__all__ = ["Folded", "Holdings", "Recalled", "recall"]
