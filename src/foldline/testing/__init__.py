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

A local model provider that answers from a script: `ScriptedServer`, described in
`foldline.testing.scripted`.

An AssertionError names the broken promise, the message and the problem.
`promises` has the eleven checks one by one, `histories` the generators as hypothesis strategies.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
