"""
Record ``session.json``: an agent-like session over this repository.

The words of user and assistant are scripted (`session_script.py`), and the session states so in
its first message. The tool outputs are real: every command runs, every file is read, and
every edit is made, in a temporary copy of the repository, visible as ``/repo``.

    python examples/record_session.py [OUT]

OUT is recorded.json by default, and never an existing file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from session_script import NOTES, SCRIPT, SYSTEM, Call, Turn

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "bench", "pyproject.toml", "README.md")
TIMEOUT = 120
"""Timeout of one command, in seconds."""

LONGEST = 24_000
"""Maximum characters of one tool output; a longer one is cut, as agents do."""

TOOLS = [
    ("shell", "Run a command in the repository.", {"command": "The words of the command."}),
    ("read_file", "Read a text file.", {"path": "Where it is, from the repository's root."}),
    (
        "edit_file",
        "Replace a text that occurs once in a file.",
        {"path": "Which file.", "old": "What stands there.", "new": "What shall stand there."},
    ),
    ("write_file", "Write a new file.", {"path": "Which file.", "content": "All of it."}),
]


@dataclass(slots=True)
class Recorder:
    """Runs tool calls in a copy of the repository, and records messages and results."""

    copy: Path
    messages: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0

    def record(self, turn: Turn) -> None:
        """Record one turn of the script: its text, then the tool outputs."""
        message: dict[str, Any] = {"role": turn.role, "content": turn.text}
        if turn.calls:
            numbers = range(self.calls + 1, self.calls + 1 + len(turn.calls))
            message["tool_calls"] = [
                {
                    "id": f"call_{number:03}",
                    "type": "function",
                    "function": {
                        "name": call.tool,
                        "arguments": json.dumps(call.arguments, ensure_ascii=False),
                    },
                }
                for number, call in zip(numbers, turn.calls, strict=True)
            ]
        self.messages.append(message)
        for call in turn.calls:
            self.calls += 1
            self.messages.append(
                {
                    "role": "tool",
                    "tool_call_id": f"call_{self.calls:03}",
                    "content": self._cleaned(self._run(call)),
                }
            )

    def _run(self, call: Call) -> str:
        given = call.arguments
        match call.tool:
            case "shell":
                return self._shell(given["command"])
            case "read_file":
                return (self.copy / given["path"]).read_text()
            case "write_file":
                (self.copy / given["path"]).write_text(given["content"])
                return f"Wrote {given['path']} ({len(given['content'].splitlines())} lines)."
            case _:
                return self._edit(**given)

    def _shell(self, command: list[str]) -> str:
        words = [sys.executable if word == "python" else word for word in command]
        at = ROOT if words[0] == "git" else self.copy
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.copy),
            "PYTHONPATH": str(self.copy / "src"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
        }
        done = subprocess.run(  # noqa: S603  # fixed commands of the script, no shell
            words,
            cwd=at,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        if words[0] == "grep":  # it finds files in disk order
            done.stdout = "\n".join(sorted(done.stdout.split("\n"), key=_place))
        ended = f"\n[exit code {done.returncode}]" if done.returncode else ""
        return (done.stdout.rstrip() + ended).strip() or "(no output)"

    def _edit(self, path: str, old: str, new: str) -> str:
        file = self.copy / path
        text = file.read_text()
        if text.count(old) != 1:
            return f"Error: the old text occurs {text.count(old)} times in {path}, not once."
        file.write_text(text.replace(old, new))
        return f"Edited {path}."

    def _cleaned(self, text: str) -> str:
        """Remove machine-specific parts: paths, durations, the length."""
        for path, alias in ((self.copy, "/repo"), (ROOT, "/repo"), (Path(sys.prefix), "/venv")):
            text = text.replace(str(path), alias)
        text = re.sub(r"\bin \d+\.\d+s\b", "in 0.00s", text)
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}\n[cut: {len(text):,} characters]"
        return text


def _place(line: str) -> tuple[str, int]:
    """Return the sort key of a line from grep: its file and its number."""
    path, _, rest = line.partition(":")
    number = rest.partition(":")[0]
    return path, int(number) if number.isdecimal() else 0


def copy_of_the_repository(folder: Path) -> Path:
    """Copy the files that the session reads, and add the notes that it finds."""
    copy = folder / "repo"
    copy.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy(source, copy / name)
    (copy / "NOTES.md").write_text(NOTES)
    return copy


def schema(name: str, description: str, fields: dict[str, str]) -> dict[str, Any]:
    """Describe a tool in the format of the chat completions API."""
    properties = {
        key: {"type": "array", "items": {"type": "string"}}
        if key == "command"
        else {"type": "string", "description": words}
        for key, words in fields.items()
    }
    parameters = {"type": "object", "properties": properties, "required": list(fields)}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def refuse_traces(text: str) -> None:
    """Fail if traces of this machine are left in the recording."""
    for trace in {str(ROOT), str(Path.home()) + "/", tempfile.gettempdir() + "/", sys.prefix}:
        if trace in text:
            at = text.index(trace)
            sys.exit(f"The recording names {trace!r}: …{text[max(0, at - 200) : at + 200]}…")


def main() -> None:
    """Record the session and write it."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "recorded.json")
    if out.exists():
        sys.exit(f"{out} exists, and is not overwritten: name another file.")
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(copy_of_the_repository(Path(folder)))
        recorder.messages.append({"role": "system", "content": SYSTEM})
        for turn in SCRIPT:
            recorder.record(turn)
    body = {
        "model": "scripted",
        "messages": recorder.messages,
        "tools": [schema(*tool) for tool in TOOLS],
    }
    text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    refuse_traces(text)
    out.write_text(text, encoding="utf-8")
    sys.stderr.write(f"{len(recorder.messages)} messages, {len(text):,} characters: {out}\n")


if __name__ == "__main__":
    main()
