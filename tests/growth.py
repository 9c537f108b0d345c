"""How the time of a function grows with its input, regardless of other load on the machine."""

import gc
from collections.abc import Callable
from time import thread_time
from typing import TypeVar

Input = TypeVar("Input")

ROUNDS = 6
NOISE = 0.004  # seconds: shorter times are noise


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that one call takes in this thread, without collecting garbage."""
    gc.disable()
    try:
        start = thread_time()
        work()
        return thread_time() - start
    finally:
        gc.enable()


def grows_linearly(
    work: Callable[[Input], object], make: Callable[[int], Input], small: int, large: int
) -> bool:
    """
    Return True if the time of ``work`` grows about as fast as the size of its input.

    Other programs can only add time, so one round within three times the ratio of the sizes is
    enough; work that is quadratic exceeds it in every round.
    """
    short, long = make(small), make(large)
    limit = 3 * large / small
    least_short, least_long = [], []
    for _ in range(ROUNDS):
        least_short.append(cpu_seconds(lambda: work(short)))
        least_long.append(cpu_seconds(lambda: work(long)))
        if min(least_long) < limit * max(min(least_short), NOISE):
            return True
    return False


def repeated(piece: str) -> Callable[[int], str]:
    """Return a function that repeats ``piece`` up to about the requested number of characters."""
    return lambda size: piece * (size // len(piece))
