"""
Memory as a tool: add, search, update and forget memories.

    memory_tool = MemoryTool(user_id="ann")
    memory_tool.execute("add", content="The launch moved to May", memory_type="episodic")
    memory_tool.execute("search", query="when is the launch?", limit=5)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, Self

from foldline.memory import FoundMemory, Memory
from foldline.settings.sources import data_folder, make_folder
from foldline.tools.description import ActionTool, describe_tool
from foldline.tools.output import ToolOutput

DAY: Final = 86_400.0


class MemoryTool(ActionTool):
    """
    A memory with the interface of a tool.

    Args:
        user_id: The owner of the memories; those of other users are never seen.
        path: The file; default ``memory.db`` in the data folder of the user, or FOLDLINE_HOME.
        memory: An open memory, instead of the other two.
        **options: Further options of `Memory.open`.

    Raises:
        StoreError: The file cannot be opened.
    """

    described = describe_tool("memory")
    name, description = described.name, described.description
    labels = frozenset(described.labels)

    def __init__(
        self,
        user_id: str = "default",
        path: str | os.PathLike[str] | None = None,
        *,
        memory: Memory | None = None,
        **options: Any,
    ) -> None:
        if memory is None:
            file = make_folder(data_folder()) / "memory.db" if path is None else path
            memory = Memory.open(file, user=user_id, **options)
        self.memory = memory
        """The memory, with typed methods."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.memory.close()

    # --- actions ---------------------------------------------------------------------------

    def _add(self, content: str, **rest: Any) -> ToolOutput:
        details = _rename(rest, memory_type="kind", session_id="session")
        done = self.memory.add(content, **details)
        if done.item is None:
            return ToolOutput("Nothing was added: the text was recalled from this memory.")
        word = "Added" if done.status == "added" else "Known already, refreshed"
        evicted = f" Evicted {len(done.evicted)} older working memories." if done.evicted else ""
        message = f"{word}: {done.item.kind} memory {done.item.id}.{evicted}"
        data = {"status": done.status, "evicted": list(done.evicted)}
        return ToolOutput(message, data=data | {"memory": done.item.to_dict()})

    def _search(self, query: str, limit: int = 5, **rest: Any) -> ToolOutput:
        found = self.memory.search(query, limit=limit, **_filters(rest))
        if not found:
            return ToolOutput("There are no memories about that.", data={"results": []})
        message = f"{len(found)} found, the most relevant first:\n{self.memory.text(found)}"
        return ToolOutput(message, data={"results": [_row(one) for one in found]})

    def _list(self, limit: int = 20, **rest: Any) -> ToolOutput:
        items = self.memory.items(limit=limit, **_filters(rest))
        message = self.memory.text(items) if items else "There are no memories."
        return ToolOutput(message, data={"results": [item.to_dict() for item in items]})

    def _update(self, memory_id: str, **changes: Any) -> ToolOutput:
        item = self.memory.update(memory_id, **changes)
        message = f"Updated {item.id} to revision {item.revision}; earlier ones are kept."
        return ToolOutput(message, data={"memory": item.to_dict()})

    def _remove(self, memory_id: str) -> ToolOutput:
        done = self.memory.remove(memory_id)
        message = f"Removed {memory_id}; undo with batch {done.batch}."
        return ToolOutput(message, data={"batch": done.batch, "ids": list(done.ids)})

    def _forget(
        self, strategy: str = "importance", max_age_days: float = 30.0, **rest: Any
    ) -> ToolOutput:
        details = _filters(rest)
        done = self.memory.forget(strategy, max_age=max_age_days * DAY, **details)  # type: ignore[arg-type]
        undo = f"; undo with batch {done.batch}" if done.ids else ""
        data = {"batch": done.batch, "ids": list(done.ids)}
        return ToolOutput(f"Forgot {_count(len(done.ids))}{undo}.", data=data)

    def _undo(self, batch: int) -> ToolOutput:
        ids = self.memory.undo(batch)
        return ToolOutput(f"Restored {_count(len(ids))}.", data={"ids": list(ids)})

    def _consolidate(
        self,
        from_type: Any = "working",
        to_type: Any = "episodic",
        importance_threshold: float = 0.7,
    ) -> ToolOutput:
        made = self.memory.consolidate(from_type, to_type, min_importance=importance_threshold)
        message = f"Consolidated {_count(len(made))} from {from_type} to {to_type}."
        return ToolOutput(message, data={"memories": [item.to_dict() for item in made]})

    def _summary(self, limit: int = 10) -> ToolOutput:
        return ToolOutput(self.memory.summary(limit))

    def _stats(self) -> ToolOutput:
        figures = self.memory.stats()
        kinds = "; ".join(f"{one['count']:,} {kind}" for kind, one in figures["kinds"].items())
        message = f"{_count(figures['count'])}, {figures['tokens']:,} tokens. {kinds}".strip()
        return ToolOutput(message, data=figures)

    def _clear_all(self) -> ToolOutput:
        count = self.memory.clear()
        return ToolOutput(f"Erased {_count(count)} permanently.", data={"count": count})


def _rename(given: Mapping[str, Any], **names: str) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in given.items()}


def _filters(given: Mapping[str, Any]) -> dict[str, Any]:
    """Rename the filters of a call to the parameters of `Memory`."""
    out = _rename(given, session_id="session", memory_types="kinds")
    one = out.pop("memory_type", None)
    if one is not None:
        out["kinds"] = [one]
    if "time_range" in out:  # JSON has no tuples
        out["time_range"] = tuple(out["time_range"])
    return out


def _row(found: FoundMemory) -> dict[str, Any]:
    figures = {"score": found.score, "strength": found.strength, "parts": dict(found.parts)}
    return found.item.to_dict() | figures | {"matched": list(found.matched)}


def _count(number: int) -> str:
    return f"{number:,} memory" if number == 1 else f"{number:,} memories"
