"""Gemini contents: turns of the roles user and model, made of parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foldline.formats.dialect import Dialect, in_body
from foldline.formats.foreign import START, adapt, is_own, leading_system
from foldline.formats.gemini.read import NAME, get, match_ids, read_message, read_surroundings
from foldline.formats.gemini.rules import violations
from foldline.formats.gemini.write import write_content
from foldline.formats.tool_json import tool_schemas
from foldline.values.messages import Message
from foldline.values.transcript import Transcript


class GeminiDialect(Dialect):
    """The contents of ``generateContent``."""

    name = NAME
    title = "Gemini contents"
    provider = "gemini"
    key = "contents"

    def recognises(self, wire: Any) -> float:
        """Return how sure it is that this value is in the dialect, from 0 to 1."""
        items = wire.get("contents") if isinstance(wire, dict) else wire
        if not isinstance(items, list) or not items:
            return 0.0
        return float(isinstance(wire, dict) or any(map(_is_content, items)))

    read = staticmethod(read_message)
    rules = staticmethod(violations)
    link = staticmethod(match_ids)
    surroundings = staticmethod(read_surroundings)

    def convert(self, transcript: Transcript, *, own: bool) -> Any:
        """
        Write a list of contents, or a request where there are tools or a system text.

        These have no place among contents.
        """
        if own:
            return self.messages(transcript.messages)
        system, rest = leading_system(transcript)
        items = self.messages(rest)
        if items and items[0]["role"] == "model":
            items.insert(0, {"role": "user", "parts": [{"text": START}]})
        declared = [schema.as_object("parameters") for schema in tool_schemas(transcript.tools)]
        around = {
            "systemInstruction": {"parts": [{"text": system}]} if system else None,
            "tools": [{"functionDeclarations": declared}] if declared else None,
        }
        return in_body(items, self.key, around)

    def messages(self, messages: Sequence[Message]) -> list[Any]:
        """Write messages; results of one turn share a content, what says nothing is left out."""
        out: list[Any] = []
        last: Message | None = None
        for message in adapt(messages, self.name):
            content = write_content(message)
            if content is None:
                continue
            answers = last is not None and bool(last.results) and message.role == "tool"
            # Results belong into the content before, of which some were made here.
            if last and answers and not (is_own(last, NAME) and is_own(message, NAME)):
                joined = [*out[-1]["parts"], *content["parts"]]
                before = out[-2]["parts"] if len(out) > 1 else []
                out[-1] = {**out[-1], "parts": _in_call_order(joined, before)}
            else:
                out.append(content)
            last = message
        return out


def _is_content(item: Any) -> bool:
    # Pydantic AI's messages have parts too, and a kind.
    return isinstance(item, dict) and isinstance(item.get("parts"), list) and "kind" not in item


def _in_call_order(parts: list[Any], before: list[Any]) -> list[Any]:
    """Return responses in the order of their calls; anything else as it is."""
    places: dict[tuple[Any, Any], int] = {}
    for part in before:
        call = get(part, "functionCall") if isinstance(part, dict) else None
        if isinstance(call, dict):
            places.setdefault((call.get("name"), call.get("id")), len(places))
    answers = [get(part, "functionResponse") for part in parts]
    if not all(isinstance(answer, dict) for answer in answers):
        return parts
    numbers = [places.get((a.get("name"), a.get("id")), len(places)) for a in answers if a]
    order = sorted(range(len(parts)), key=numbers.__getitem__)
    return [parts[index] for index in order]
