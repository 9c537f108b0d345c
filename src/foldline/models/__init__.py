"""
Language models: what is known about them, and clients that ask them.

    from foldline.models import model

    with model("anthropic:claude-haiku-4-5") as haiku:
        answer = haiku.complete([{"role": "user", "content": "Hello"}])

Nothing of the network is loaded before the first client is made.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
