"""Texts in chunks that fit before a model, and where in its document each of them stands."""

from __future__ import annotations

from foldline.memory.chunk.chunking import Chunk, ChunkSettings, Kind, split

__all__ = ["Chunk", "ChunkSettings", "Kind", "split"]
