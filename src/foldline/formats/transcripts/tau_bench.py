"""
tau-bench results: a list of runs, each with its chat completions messages under ``traj``.

Tool-call ids repeat inside one run and across runs; every run is a conversation of its own. The
few-shot file of the benchmark, conversations as plain text, is read by ``tau_few_shot``.
"""

from __future__ import annotations

from foldline.errors import InputError
from foldline.formats.dialect import expect
from foldline.formats.json_document import reading, recorded, rewritten
from foldline.formats.openai_chat import OpenAIChat
from foldline.formats.recording import Recording
from foldline.formats.source import Source
from foldline.formats.transcripts import tau_few_shot

_CHAT = OpenAIChat()


class TauBench:
    """Results and few-shot files of tau-bench."""

    name = "tau-bench"
    title = "tau-bench results (.json) and few-shot examples (.jsonl)"

    def recognises(self, source: Source) -> float:
        """Look for runs with ``task_id`` and ``traj``, or lines with ``messages_display``."""
        if tau_few_shot.recognised(source):
            return 1.0
        runs = source.document
        if not isinstance(runs, list) or not runs:
            return 0.0
        return float(
            all(isinstance(run, dict) and {"task_id", "traj"} <= run.keys() for run in runs)
        )

    def decode(self, source: Source) -> Recording:
        """Read one conversation for every run."""
        if tau_few_shot.recognised(source):
            return tau_few_shot.decode(self.name, source)
        runs = expect(source.document, list, None, "")
        if not runs:
            raise InputError("the list of runs is empty", hint="Give a file that holds one.")
        found = []
        for index, entry in enumerate(runs):
            run = expect(entry, dict, None, f"[{index}]")
            items = expect(run.get("traj"), list, None, f"[{index}].traj")
            name = f"task {run.get('task_id')} trial {run.get('trial', 0)}"
            with reading(name):
                found.append((name, (index, "traj"), _CHAT.decode(items)))
        return recorded(self.name, source, found)

    def encode(self, recording: Recording) -> bytes:
        """Write the runs again."""
        if isinstance(recording.document, tau_few_shot.Examples):
            return tau_few_shot.encode(recording)
        return rewritten(recording, lambda _, __, there: _CHAT.messages(there.messages))
