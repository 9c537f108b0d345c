"""A session whose future use is known, and scores of generated methods."""

from __future__ import annotations

import json

from foldline.evaluation.retention import RetainedUse, Score
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.values.transcript import Transcript

FILLER = "the build went on and nothing of interest was said about it\n"


def session(turns: int = 60) -> list[dict]:
    """Return a session that goes back, late, to what it read early: settings of old files."""
    messages: list[dict] = [{"role": "user", "content": "Find out why the export drops rows."}]
    for n in range(turns):
        old = f"Going back to LIMIT_{n - 30} and part_{n - 30}.py" if n > 30 else "Reading on"
        call = {"name": "read_file", "arguments": json.dumps({"path": f"export/file_{n}.py"})}
        messages += [
            {
                "role": "assistant",
                "content": old,
                "tool_calls": [{"id": f"c{n}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"c{n}",
                "content": f"part_{n}.py sets LIMIT_{n} = {n * 137}\n" + FILLER * 12,
            },
        ]
    return [*messages, {"role": "assistant", "content": "Done."}]


def transcript(turns: int = 60) -> Transcript:
    return OpenAIChatDialect().decode(session(turns))


def scores() -> list[Score]:
    """Return two methods at two budgets on three sessions of two sources."""
    return [
        Score(
            f"s{n}", f"agent{n % 2}", method, goal, RetainedUse(value, value / 2, value, 0.1), 0.05
        )
        for method, best in (("Foldline", 0.9), ("trim", 0.2))
        for goal, factor in (("5%", 0.8), ("10%", 1.0))
        for n in range(3)
        for value in (best * factor - 0.01 * n,)
    ]
