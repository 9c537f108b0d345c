"""Calls: one line for a tool call with its real command, and one for what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress, islice
from operator import ne
from typing import Any, Final

from foldline.lazy import lazy_pattern
from foldline.outputs.verdict import first_failure, is_failure, is_summary
from foldline.outputs.wrapping import exit_code, without_reminders
from foldline.snapshot.commands import (
    COMMANDS,
    brief_command,
    join_command,
    script_commands,
)
from foldline.snapshot.file_operations import CHANGES, EDITED, REPLACED
from foldline.snapshot.invocations import Invocation
from foldline.snapshot.phrases import ENGLISH, Phrases
from foldline.snapshot.statements import COLONS
from foldline.values.messages import ToolCall, ToolResult

LINE: Final = 240
"""Characters of the line of a call."""

VALUE: Final = 90
"""Characters of an argument that is given whole where it is not what the call is about."""

FAILED: Final = 120
"""Characters of the line that says what failed."""

ENDING: Final = 4_000
"""Characters at the end of a long result in which its verdict is looked for."""

SUMMING: Final = 1_000
"""Characters at the end of a result in which a line that sums it up is looked for."""

REASON: Final = 400
"""Characters in which a report of a refusal comes to the user's reason; Claude Code takes 170."""

ANNOUNCING: Final = 40
"""Characters of a line that tells what failed only with the next one."""

TRACEBACK: Final = 20_000
"""Characters of a traceback behind which what was raised is looked for."""

PRINTED: Final = 400
"""Characters at the end of an output in which its last line is looked for."""

WRITTEN: Final = 300
"""Characters from which on an argument is a text of its own."""

COMMAND_HEAD: Final = 60
"""Characters of a command that tell what it does."""

ENTRIES: Final = 40
"""Entries of a nested argument that are written at most."""

DEPTH: Final = 6
"""How deep arguments are looked at."""

MAIN: Final = (
    *COMMANDS,
    "file_path",
    "path",
    "filename",
    "pattern",
    "query",
    "url",
    "skill",
)
"""Arguments that say what a call is about; their names need not be given."""

ASIDE: Final = frozenset(
    (
        *("description", "timeout", "timeout_ms", "workdir", "yield_time_ms", "max_output_tokens"),
        *("run_in_background", "justification", "sandbox_permissions", "login", "shell"),
        *("with_escalated_permissions", "security_risk"),
    )
)
"""Arguments that say nothing about what is done."""

STATED: Final = ("instruction", "explanation", "thought", "thoughts", "reasoning", "rationale")
"""Arguments in which an agent says what a call is for, or what it thinks."""

PATCH, PATCH_END, PATCHED = "*** Begin Patch", "*** End Patch", ("+", "*** ")
"""The lines around a patch, and how those of its lines begin that say what is new."""

_CHANGING = lazy_pattern(
    r"edit|write|patch|create|commit|test|build|push|spawn|agent|task|skill|replace|insert|ask"
)
"""Words in the names of calls that change something, and in commands, in lower case."""

_END = lazy_pattern(r"[;,|&)\]}\s]")
_COMMITTED = lazy_pattern(
    r"(?m)^(\[[^\]\n]{1,120} [0-9a-f]{7,40}\]) [^\n]*\n(?: (?:Author|Date): [^\n]*\n)*"
    r" (\d+ files? changed, [^\n]{1,80})"
)
"""What git says of a commit: its branch and hash, and how much it changed."""

_TESTED = lazy_pattern(r"(?i)\b(?:pass|fail)(?:ed|ing|ures?)?\b")
"""What sums up more than a commit: how tests ended that ran behind it."""

_EXIT = lazy_pattern(
    r"(?i:\[?(?:process |command )?exit(?:ed)?(?: with)?(?: code)?:? (-?\d{1,5})\]?)"
)
_REFUSALS: Final = (
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "The user rejected permission to use this specific tool call",
    "The user denied this operation",
)
_REASONS: Final = (
    *("the user said:", "provided the following reason for the rejection:"),
    *("provided the following feedback:\n<feedback>", "with the following feedback:"),
)
_FEEDBACK_END: Final = "</feedback>"
_STOP: Final = "STOP what you are doing and wait for the user to tell you how to proceed."
_ANSWERS: Final = ("User has answered your questions:", "Your questions have been answered:")
_ANSWERED: Final = ". You can now continue"
"""How Claude Code, OpenCode and Cline report that a user refused a call, and what was answered."""

_ASKING = lazy_pattern(r"(?i)ask_?user\w{0,40}|ask_followup_question|question|request_user_input")


def changes_something(call: Invocation) -> bool:
    """Return True if a call does more than look at something, by its name and its command."""
    done = "" if call.only_shows else call.command[:COMMAND_HEAD]
    named = _CHANGING.search(f"{call.call.name} {done}".lower())
    return named is not None or call.operation in CHANGES or bool(call.changed_by_shell)


def call_line(call: ToolCall, arguments: Any, phrases: Phrases = ENGLISH) -> str:
    """
    Write a call as one line.

    Args:
        call: The call.
        arguments: Its arguments from `without_unchanged`, None where they are not JSON.
        phrases: The words that say how long it was where it is cut.

    Returns:
        The tool's name and what it was given; a long command is cut at a clause, with its size.
    """
    if not isinstance(arguments, Mapping):
        return _cut(f"{call.name} {call.arguments}", phrases)
    main: list[str] = []
    rest: list[str] = []
    for key, value in arguments.items():
        if key in ASIDE or value in (None, "", [], {}):
            continue
        if key in MAIN:
            command = join_command(value) if key in COMMANDS else ""
            main.append(brief_command(command, phrases) if command else _text(value))
        elif isinstance(value, str) and (inner := script_commands(value)):
            main.append(brief_command(inner, phrases))
        else:
            rest.append(f"{key}={_brief(_text(value), phrases)}")
    return _cut(" ".join((call.name, *main, *rest)), phrases)


def without_unchanged(arguments: Any, depth: int = DEPTH) -> Any:
    """Return the arguments of a call, of every long edit only what it adds, or else takes away."""
    if isinstance(arguments, list) and depth:
        return [without_unchanged(value, depth - 1) for value in arguments]
    if not isinstance(arguments, dict) or not depth:
        return arguments
    changed = {name: without_unchanged(value, depth - 1) for name, value in arguments.items()}
    for old, new in REPLACED.items():
        before, after = arguments.get(old), arguments.get(new)
        if isinstance(before, str) and isinstance(after, str) and len(before + after) > VALUE:
            changed[new] = _new_lines(after, before)
            changed[old] = "" if changed[new] else _new_lines(before, after)
    return changed


def _new_lines(text: str, other: str) -> str:
    """Return a text from the first line in which it differs from another to the last."""
    lines, others = text.split("\n"), other.split("\n")
    most = min(len(lines), len(others))
    start = _count_same(lines, others, most)
    behind = _count_same(lines[::-1], others[::-1], most - start)
    return "\n".join(lines[start : len(lines) - behind])


def _count_same(lines: Sequence[str], others: Sequence[str], most: int) -> int:
    """Return how many lines at the beginning are the same, ``most`` at most."""
    return next(compress(range(most), map(ne, lines, others)), most)


def _text(value: Any, depth: int = DEPTH) -> str:
    """Write a value as it is meant, without quotes and escapes."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping) and depth:
        inner = (f"{key}: {_text(one, depth - 1)}" for key, one in islice(value.items(), ENTRIES))
        return f"{{{', '.join(inner)}}}"
    if isinstance(value, list) and depth:
        return f"[{', '.join(_text(one, depth - 1) for one in value[:ENTRIES])}]"
    return json.dumps(value, ensure_ascii=False)


def _brief(text: str, phrases: Phrases) -> str:
    if len(text) <= VALUE:
        return text
    return f"{_at_clause(text, VALUE - 20)}… {_size(phrases.characters, len(text))}"


def _cut(line: str, phrases: Phrases) -> str:
    lines = line.count("\n") + 1
    flat = " ".join(line[: 4 * LINE].split())
    if len(flat) <= LINE and len(line) <= 4 * LINE:
        return flat
    long = lines > 2
    size = _size(phrases.lines, lines) if long else _size(phrases.characters, len(line))
    return f"{_at_clause(flat, LINE - 20)}… {size}"


def _size(words: str, count: int) -> str:
    return words.replace("{count}", f"{count:,}")


def _at_clause(text: str, most: int) -> str:
    """Cut a text behind a clause or at least between words."""
    stop = most
    for found in _END.finditer(text, most * 2 // 3, most):
        stop = found.end()
    return text[:stop].rstrip()


def long_arguments(arguments: Any, depth: int = DEPTH, key: str = "") -> Iterator[str]:
    """
    Yield the long texts in the arguments of a call.

    Not those that an edit replaces; of a patch only what it adds, and no command of one line: the
    line of its call tells that.
    """
    if isinstance(arguments, str):
        command = arguments if key in COMMANDS else script_commands(arguments)
        least = VALUE if key in EDITED else WRITTEN
        if len(arguments) > least and (not command or "\n" in command):
            yield _added(command or arguments)
    elif depth and isinstance(arguments, Mapping):
        for name, value in arguments.items():
            if name not in REPLACED:
                yield from long_arguments(value, depth - 1, name)
    elif depth and isinstance(arguments, list):
        for value in arguments:
            yield from long_arguments(value, depth - 1, key)


def split_stated(arguments: Any) -> tuple[list[str], Any]:
    """Return what an agent says in the arguments of a call about it, and the others."""
    if not isinstance(arguments, dict):
        return [], arguments
    stated = {key for key in STATED if isinstance(arguments.get(key), str)}
    rest = {key: value for key, value in arguments.items() if key not in stated}
    return [arguments[key] for key in STATED if key in stated], rest


def _added(text: str) -> str:
    """Return a text with only what its patch adds in place of it, and the names of its files."""
    if PATCH not in text[:WRITTEN]:
        return text
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    start = stripped.index(PATCH) if PATCH in stripped else len(lines)
    if PATCH_END not in stripped[start:]:
        return text
    end = len(lines) - stripped[::-1].index(PATCH_END)
    added = (line.removeprefix("+") for line in lines[start:end] if line.startswith(PATCHED))
    return "\n".join((*lines[:start], *added, *lines[end:]))


def user_reply(tool: str, result: ToolResult) -> str:
    """
    Return what the user did or said instead of the result of a call, "" where it has a result.

    Agents report so that a call was refused, which is marked as an error, and what was answered
    to the questions of a tool. What is said in these words elsewhere is an output.
    """
    if not (result.is_error or _ASKING.fullmatch(tool.rpartition("__")[2])):
        return ""
    if exit_code(result.text) is not None:
        return ""  # It ran.
    bare = without_reminders(result.text).strip()
    if bare.startswith(_ANSWERS) and not result.is_error:
        answers, end, _ = bare.rpartition(_ANSWERED)
        return answers if end else bare
    return brief_refusal(bare) if result.is_error else ""


def brief_refusal(text: str) -> str:
    """Return how an agent reports that a call was refused, and why; "" for other results."""
    front = next((front for front in _REFUSALS if text.startswith(front)), "")
    if not front:
        return ""
    rest = text[len(front) :]
    near = rest[:REASON]
    reasons = [place + len(mark) for mark in _REASONS if (place := near.find(mark)) >= 0]
    if not reasons and not rest.endswith(_STOP):
        return text
    reason = rest[min(reasons) :] if reasons else ""
    return f"{front} {reason.removesuffix(_FEEDBACK_END).strip()}".rstrip()


def _find_failure(text: str) -> str:
    """Return what says that something failed, or what is raised; with what it announces."""
    failed, end = first_failure(text)
    if not failed.endswith(COLONS):
        return failed
    behind = text[end + 1 : end + TRACEBACK].split("\n")
    if failed.startswith("Traceback (most recent"):
        raised = next((line for line in behind if line and not line[0].isspace()), failed)
        return raised if is_failure(raised) else f"Traceback: {raised}"
    if len(failed) > ANNOUNCING or is_summary(behind[0]):
        return failed
    return f"{failed} {behind[0].strip()}".rstrip()


def verdict(text: str) -> str:
    """Return the first line that says what failed and the last that sums a result up, if any."""
    ending = text.rstrip()[-ENDING:]
    tail = (line.strip() for line in ending[-SUMMING:].split("\n")[::-1])
    summary = next(filter(is_summary, tail), "")
    commits = list(_COMMITTED.finditer(ending)) if " changed, " in ending else []
    if commits and not _TESTED.search(summary):
        summary = " ".join(commits[-1].groups())
    failed = "" if is_failure(summary) else _find_failure(text)
    # What failed must never look as if it had passed.
    return " … ".join(filter(None, (_whole_words(failed, FAILED), summary)))


def printed_verdict(verdict_line: str, text: str) -> str:
    """Return what a command printed last where its verdict is but its exit code."""
    exited = _EXIT.fullmatch(verdict_line)
    if not exited:
        return verdict_line
    lines = map(str.strip, text[-PRINTED:].split("\n")[::-1])
    printed = next((line for line in lines if line and not _EXIT.fullmatch(line)), "")
    printed = "" if printed.endswith(":") else printed
    return printed if not int(exited[1]) else ": ".join(filter(None, (verdict_line, printed)))


def _whole_words(text: str, most: int) -> str:
    """Cut a text at a blank."""
    return text if len(text) <= most else text[:most].rpartition(" ")[0] or text[:most]
