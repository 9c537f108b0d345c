"""Recall: from a handle to the original content, whole, in part, or by a search."""

from foldline.recall.holdings import Folded, Holdings
from foldline.recall.recall_handle import Recalled, recall

__all__ = ["Folded", "Holdings", "Recalled", "recall"]
