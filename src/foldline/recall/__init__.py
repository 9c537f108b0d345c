"""Recall: from a handle back to what was really said, whole or in part."""

from foldline.recall.recalling import Folded, Holdings, Recalled, recall

__all__ = ["Folded", "Holdings", "Recalled", "recall"]
