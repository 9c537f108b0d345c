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

from foldline.lazy_names import export_lazily

if TYPE_CHECKING:
    from foldline.testing.checks import check_compaction as check_compaction
    from foldline.testing.checks import check_policy as check_policy
    from foldline.testing.checks import check_run as check_run
    from foldline.testing.checks import check_transcript as check_transcript
    from foldline.testing.scripted import ScriptedServer as ScriptedServer

__getattr__, __dir__, __all__ = export_lazily(__name__)
