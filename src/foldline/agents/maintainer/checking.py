"""The state check before work goes on: is the world still what it was when it was left?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from foldline.agents.agent import checkpoint_file
from foldline.agents.checkpoint import load_checkpoint
from foldline.agents.loop import open_calls
from foldline.agents.maintainer.conflicts import Conflict
from foldline.agents.maintainer.knowing import Knowledge
from foldline.agents.maintainer.place import Place
from foldline.agents.workspace_state import WorkspaceChanges, look_at
from foldline.session import Session
from foldline.tools.files.root import Root


@dataclass(frozen=True, slots=True)
class Checked:
    """
    What a resumed process finds.

    ``unfinished`` says that a question was left without an answer, ``open_calls`` names calls
    without a result, ``changes`` what is different in the files that were touched and in the git
    head, ``conflicts`` what is recorded and does not hold any more.
    """

    unfinished: bool = False
    open_calls: tuple[str, ...] = ()
    changes: WorkspaceChanges = field(default_factory=WorkspaceChanges)
    conflicts: tuple[Conflict, ...] = ()

    @property
    def must_plan_again(self) -> bool:
        """Whether the world changed under a plan: look again before going on with it."""
        return bool(self.changes) or any(one.kind in ("changed", "gone") for one in self.conflicts)

    def lines(self) -> Iterator[str]:
        """Yield it in words."""
        if self.unfinished:
            yield "A question was left without an answer."
        if self.open_calls:
            yield f"Calls without a result: {', '.join(self.open_calls)}."
        if self.changes:
            yield f"Changed meanwhile: {self.changes}."
        for one in self.conflicts:
            yield f"Does not hold any more: {one.why}."


def checked(
    root: Root, place: Place, known: Knowledge, session: Session | None, name: str
) -> Checked:
    """
    Compare what was left behind with the world as it is now.

    Args:
        root: The codebase.
        place: Where what is known lies.
        known: Notes and memory.
        session: The conversation; None to look at notes only.
        name: Of the conversation.
    """
    found = known.conflicts()
    if session is None or not session.messages:
        return Checked(conflicts=found)
    last = session.messages[-1]
    calls = tuple(call.name for call in open_calls(session.messages))
    before = load_checkpoint(checkpoint_file(place.sessions, name), name)
    changes = WorkspaceChanges()
    if before is not None:
        changes = before.workspace.changes(look_at(root, before.workspace.files))
    return Checked(last.role != "assistant" or bool(last.calls), calls, changes, found)
