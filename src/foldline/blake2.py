"""BLAKE2b as in `hashlib`, which loads OpenSSL: milliseconds that a first compaction need not wait."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
