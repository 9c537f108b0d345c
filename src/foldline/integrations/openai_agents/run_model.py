"""The model of a run answers Asks, so that it can write the summaries of its session."""

from __future__ import annotations

from typing import Any

from foldline.core.asks import Ask, Reply
from foldline.integrations.same import usage_of

UNKNOWN = "no model of a run is known yet: give one to run_config"


class RunModel:
    """
    Answers Asks with the model object that a run uses.

    ``model`` is that object, None before there was a run; ``expected`` says that there will be
    one.
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.expected = False

    async def __call__(self, ask: Ask) -> Reply:
        """Answer; what the model raises is told in the Reply by whoever asks."""
        if self.model is None:
            return Reply(error=UNKNOWN, retry=False, attempts=0)
        # Imported here: a session alone does not need the SDK.
        from agents import ModelSettings, ModelTracing

        response = await self.model.get_response(
            ask.system or None,
            ask.prompt,
            ModelSettings(max_tokens=ask.max_tokens),
            [],
            None,
            [],
            ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        parts = [part for item in response.output for part in getattr(item, "content", None) or ()]
        text = "".join(str(part.text) for part in parts if getattr(part, "text", None))
        refused = any(getattr(part, "refusal", None) for part in parts)
        return Reply(
            text, stop="refusal" if refused and not text else "end", usage=usage_of(response.usage)
        )
