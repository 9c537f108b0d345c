"""BLAKE2b as in `hashlib`, but without OpenSSL, which takes milliseconds to load."""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]
