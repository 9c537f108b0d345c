"""
Language models: a catalogue of their limits and prices, and clients that send requests.

    from foldline.models import model

    with model("anthropic:claude-haiku-4-5") as haiku:
        answer = haiku.complete([{"role": "user", "content": "Hello"}])

No networking code is imported before the first client is created.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
