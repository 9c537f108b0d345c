"""
Check your own policies and strategies against the promises that Foldline makes.

One compaction:

>>> import foldline
>>> from foldline.testing import check_compaction
>>> messages = [{"role": "user", "content": f"line {n} of build.log"} for n in range(400)]
>>> result = foldline.compact(messages, budget=900, policy="window")
>>> check_compaction(result, messages, 900)

A policy, on generated histories, healthy and damaged, on every wire (needs hypothesis):

>>> from foldline.testing import check_policy
>>> check_policy(foldline.policy("window"), examples=10)

A model provider on this machine that says what a script says: `ScriptedServer`, described in
`foldline.testing.scripted`.

An AssertionError names the promise that is broken, the message and what is wrong with it.
`promises` has the eleven checks one by one, `histories` the generators as hypothesis strategies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.testing.checks import check_compaction, check_policy, check_run, check_transcript
    from foldline.testing.scripted import ScriptedServer

_HOMES = {
    "ScriptedServer": "scripted",
    "check_compaction": "checks",
    "check_policy": "checks",
    "check_run": "checks",
    "check_transcript": "checks",
}

__all__ = [
    "ScriptedServer",
    "check_compaction",
    "check_policy",
    "check_run",
    "check_transcript",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
