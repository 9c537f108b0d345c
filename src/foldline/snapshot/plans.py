"""
Plans as data: the items of a to-do list, with their ids and how far each is.

A plan is not prose: half of it is a wrong plan. So it is never cut in the middle. What is done
goes first, then words at the end of each item, and an open item goes last of all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from foldline.lazy import lazy_pattern
from foldline.snapshot.commands import SCRIPTS
from foldline.values.call_arguments import parse_arguments
from foldline.values.messages import ToolCall

PLAN_TOOLS: Final = frozenset(
    {
        *("plan", "set_plan", "update_plan", "update_todo_list", "manage_todo_list"),
        *("todo", "todos", "todo_list", "todo_write", "todolist", "todowrite", "settodolist"),
        *("task_tracker", "tasktracker", "tasktrackertool", "write_todos"),
    }
)
"""Tools that set a plan, by name in small letters."""

STEP_KEYS: Final = ("content", "step", "title", "task", "text", "description")
ID_KEYS: Final = ("id", "task_id", "taskId", "number")

MOST_ITEMS: Final = 200
"""Items of a plan that are read."""

LONGEST_STEP: Final = 2_000
"""Characters of an item that are read."""

WIDTHS: Final = (400, 160, 80, 48, 32)
"""Characters to which items are shortened, one after the other, until a plan fits."""

FEW_WORDS: Final = 80
"""Characters of an item that say what it is."""

SCRIPT_TOOL: Final = "exec"
"""The tool of Codex that runs a script, which may set a plan."""

_SCRIPT_PLAN: Final = "tools.update_plan("
_STATEMENT = lazy_pattern(
    r"(?m)^[ \t]{0,40}+(?:(?:const|let|var) \w{1,40} ?= ?)?(?:await )?tools\.update_plan\("
)
_SCRIPT_ITEM = lazy_pattern(r"\{[^{}]{1,4000}\}")
_QUOTED: Final = r"(\"(?:[^\"\\\n]|\\.){0,2000}\"|'(?:[^'\\\n]|\\.){0,2000}')"
_SCRIPT_STEP = lazy_pattern(rf"\bstep[\"']?\s{{0,9}}:\s{{0,9}}{_QUOTED}")
_SCRIPT_STATUS = lazy_pattern(r"\bstatus[\"']?\s{0,9}:\s{0,9}[\"'](\w{1,20})[\"']")
_PLAN_END = lazy_pattern(r"\]\s{0,9}\}\s{0,9}\)")
_SCRIPT_END = lazy_pattern(r";?\s{0,9}(?:text\(\w{1,40}\);?\s{0,9})?\Z")
"""How a script sets a plan, and what may stand behind that."""

_DONE = lazy_pattern(
    r"(?:[-*] ?|\d+[.)] ?)?(?:\[(?:completed?|done|finished|cancell?ed|x)\]|✅|☑|✔)",
    re.IGNORECASE,
)
_ITEM = lazy_pattern(r"(?:[-*•]|\d+[.)]|\[[^\]\n]{1,20}\]|[✅☑✔⏳🔄☐⬜])")


def is_plan_tool(name: str) -> bool:
    """Return True if a tool of this name sets a plan; the server of an MCP tool is passed over."""
    return name.lower().rsplit("__", 1)[-1] in PLAN_TOOLS


def is_done(line: str) -> bool:
    """Return True if a line of a plan says that its item is done, or no longer wanted."""
    return _DONE.match(line.lstrip()) is not None


def only_sets_plan(call: ToolCall) -> bool:
    """Return True if a call sets a plan and does nothing else."""
    if is_plan_tool(call.name):
        return True
    script = _script(call)
    statements = _find_statements(script)
    if len(statements) != 1 or script[: statements[0].start()].strip() or not call_plan(call):
        return False
    end = _PLAN_END.search(script)
    return end is not None and _SCRIPT_END.match(script, end.end()) is not None


def call_plan(call: ToolCall) -> tuple[str, ...] | None:
    """
    Write the plan that a call sets, by its name or in a script that it runs.

    Returns:
        One item a line as `plan_lines` does, () where the call empties the plan; None where it
        sets none.
    """
    if is_plan_tool(call.name):
        return plan_lines(call.arguments) or (() if _empties(call.arguments) else None)
    script = _script(call)
    statements = _find_statements(script)
    if not statements:
        return None
    script = script[statements[-1].end() :]
    items = [item[0] for item in islice(_SCRIPT_ITEM.finditer(script), MOST_ITEMS)]
    steps = [(_SCRIPT_STEP.search(item), _SCRIPT_STATUS.search(item)) for item in items]
    lines = [_line({"step": _words(a[1]), "status": b[1]}) for a, b in steps if a and b]
    # Half of a plan is a wrong plan.
    is_whole = lines and len(lines) == len(_SCRIPT_STEP.findall(script))
    return tuple(lines) if is_whole else None


def _empties(arguments: str) -> bool:
    """Return True if a planning tool was given a list with nothing in it."""
    value = parse_arguments(arguments)
    given = value.values() if isinstance(value, dict) else (value,)
    return next((not item for item in given if isinstance(item, list)), False)


def _script(call: ToolCall) -> str:
    """Return the script that a call runs and that may set a plan, "" for none."""
    if call.name != SCRIPT_TOOL or _SCRIPT_PLAN not in call.arguments:
        return ""
    value = parse_arguments(call.arguments)
    if value is None:
        return call.arguments
    given = value.values() if isinstance(value, dict) and value.keys() <= {*SCRIPTS} else ()
    return next((script for script in given if isinstance(script, str)), "")


def _find_statements(script: str) -> list[re.Match[str]]:
    return list(_STATEMENT.finditer(script)) if script else []


def _words(quoted: str) -> str:
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def plan_items(value: Any) -> list[Any]:
    """Return the first list among call arguments, also one that is written as a JSON text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        value = parse_arguments(value)
    if isinstance(value, dict):
        return next((found for one in value.values() if (found := plan_items(one))), [])
    return value if isinstance(value, list) else []


def plan_lines(value: Any) -> tuple[str, ...]:
    """Write the plan in call arguments, one item a line: ``- [status] id: words``."""
    items = (item for item in plan_items(value)[:MOST_ITEMS] if isinstance(item, dict))
    return tuple(_line(item) for item in items)


def _line(item: dict[str, Any]) -> str:
    text = next((item[key] for key in STEP_KEYS if key in item), "")
    number = next((item[key] for key in ID_KEYS if key in item), "")
    name = f"{number}: " if number != "" and isinstance(number, (str, int)) else ""
    finished = item.get("completed") is True or item.get("done") is True
    status = item.get("status") or ("completed" if finished else "pending")
    # One step is one line: a line feed in it could pass for a heading or a handle.
    return " ".join(f"- [{status}] {name}{text}"[:LONGEST_STEP].split())


def fit_plan(
    lines: Sequence[str], room: int, size: Callable[[Sequence[str]], int]
) -> tuple[str, ...]:
    """
    Make a plan fit.

    Args:
        lines: One item a line.
        room: What it may take, in tokens.
        size: Returns what lines take, in tokens.

    Returns:
        All lines; else the open ones; else these with fewer words; else as many as fit and how
        many are left out. None where nothing fits.
    """
    for shorter in _shorter(lines):
        if size(shorter) <= room:
            return tuple(shorter)
    low, high = 0, len(shorter)
    while low < high:
        middle = (low + high + 1) // 2
        if size(_first(shorter, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return tuple(_first(shorter, low)) if low else ()


def _shorter(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    yield lines
    items = [line for line in lines if not is_done(line)]
    yield items
    for width in WIDTHS:
        items = [_clip(line, width) for line in items]
        yield items


def _first(lines: Sequence[str], count: int) -> list[str]:
    left = len(lines) - count
    return [*lines[:count], *([f"[… {left} more open items …]"] if left else [])]


def open_items(lines: Sequence[str]) -> list[str]:
    """Return the items of a plan that are not done, in a few words each."""
    return [_clip(line, FEW_WORDS) for line in lines if not is_done(line)]


def _clip(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"


def short_plan_call(
    call: ToolCall, room: int, size: Callable[[str], int], handle: str
) -> str | None:
    """
    Shorten the arguments of a call that sets a plan, by whole items.

    Args:
        call: The call.
        room: What its arguments may take, in tokens.
        size: Counts the tokens of a text.
        handle: Where all of it is recalled.

    Returns:
        JSON; None where no plan is in the arguments.
    """
    lines = plan_lines(parse_arguments(call.arguments))
    if not lines:
        return None

    def write_plan(kept: Sequence[str]) -> str:
        note = f"shortened; recall {handle}"
        return json.dumps({"plan": list(kept), "note": note}, ensure_ascii=False)

    return write_plan(fit_plan(lines, room, lambda kept: size(write_plan(kept))))


def short_plan_text(text: str, room: int, size: Callable[[str], int], handle: str) -> str:
    """
    Shorten the text in which a tool shows a plan, by whole items.

    Args:
        text: What the tool answered.
        room: What may be left of it, in tokens.
        size: Counts the tokens of a text.
        handle: Where all of it is recalled.
    """
    lines = [line for line in text.split("\n")[: 10 * MOST_ITEMS] if line.strip()]
    items = [line for line in lines if _ITEM.match(line.lstrip())] or lines
    note = f"[… the plan, shortened; recall {handle} …]"
    fitted = fit_plan(items, room, lambda kept: size("\n".join((*kept, note))))
    return "\n".join((*fitted, note))
