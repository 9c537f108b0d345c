"""
Ids that sort by time, cannot be guessed and do not collide: ULIDs.

48 bits of milliseconds since 1970 and 80 random bits, as 26 characters of Crockford's base 32;
see github.com/ulid/spec. Ids of one maker always grow, also inside one millisecond and when the
clock is set back.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from threading import Lock
from typing import Final

ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH: Final = 26
RANDOM_BITS: Final = 80
LARGEST: Final = (1 << 128) - 1


class UlidMaker:
    """
    Makes ids, each greater than the one before; may be called from any thread.

    Args:
        clock: Seconds since 1970.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._last = 0

    def __call__(self) -> str:
        """Return a new id."""
        moment = max(0, int(self._clock() * 1000)) & ((1 << 48) - 1)
        number = moment << RANDOM_BITS | secrets.randbits(RANDOM_BITS)
        with self._lock:
            if number <= self._last or self._last >> RANDOM_BITS == moment:
                # A random step keeps the next id unguessable; it is small beside 80 bits.
                number = min(self._last + 1 + secrets.randbits(40), LARGEST)
            self._last = number
        return encoded(number)


def encoded(number: int) -> str:
    """Write 128 bits as a ULID."""
    return "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def milliseconds(ulid: str) -> int | None:
    """Return the milliseconds since 1970 that a ULID holds; None where it is no ULID."""
    if len(ulid) != LENGTH or ulid[0] > "7" or not set(ulid) <= set(ALPHABET):
        return None
    number = 0
    for letter in ulid:
        number = number << 5 | ALPHABET.index(letter)
    return number >> RANDOM_BITS
