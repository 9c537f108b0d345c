"""Digests are those of the standard library."""

import hashlib

from foldline.blake2 import blake2b


def test_digests_are_those_of_hashlib():
    assert blake2b(b"a text", digest_size=16).digest() == (
        hashlib.blake2b(b"a text", digest_size=16).digest()
    )
