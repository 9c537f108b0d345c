"""Changing a session of an archive: undo, and compact from a message on, each confirmed first."""

from __future__ import annotations

from pathlib import Path

from foldline.archive import Archive
from foldline.errors import FoldlineError
from foldline.inspector.html import Child, Html, h
from foldline.inspector.pages.layout import Links, note, opening
from foldline.inspector.pages.messages import excerpt
from foldline.inspector.trace import SessionTrace
from foldline.session import Session


def undo(path: Path, name: str) -> None:
    """
    Take the last compaction of a session back.

    Raises:
        FoldlineError: None is in effect.
        StoreError: Somebody else changed the session meanwhile.
    """
    with Archive.open(path) as archive:
        if archive.undo(name) is None:
            raise FoldlineError("No compaction is in effect.")


def compact_from(path: Path, name: str, number: str, focus: str) -> None:
    """
    Fold everything from a message on into a snapshot, without a model.

    Raises:
        FoldlineError: The message is not shown, or nothing behind it may be folded.
    """
    with Session.open(path, name, summarizer="embedded") as session:
        receipt = session.compact(start=number, focus=focus[:1_000])
    if receipt.status != "compacted":
        raise FoldlineError(f"Nothing was changed: {receipt.reason}.")


def confirm_undo(trace: SessionTrace, links: Links, token: str) -> Child:
    """Ask whether the last compaction is really to be taken back."""
    last = next(reversed(trace.in_effect.values()), None)
    if not trace.is_ours or last is None:
        return opening("Undo", note("There is no compaction that can be undone."))
    return _confirm(
        "Undo the last compaction?",
        [
            note(f"It will be taken back: {last.receipt}."),
            note(
                "What it took out of view is shown to the model again. No program may have the "
                "session open meanwhile; one that does gets an error at its next change."
            ),
        ],
        "Undo it",
        links.page("undo"),
        links.page(),
        token,
    )


def confirm_fold(trace: SessionTrace, links: Links, number: str, token: str) -> Child:
    """Ask whether everything from a message on is really to be folded."""
    if not trace.can_fold(number):
        words = "This message is not in view, or its session is not in a wire format."
        return opening("Compact from here", note(words))
    message = trace.find(number)
    begins = excerpt(message) if message else ""
    return _confirm(
        "Compact from here?",
        [
            h("blockquote", begins, dir="auto"),
            note(
                "This message and all behind it are folded into a snapshot, made without a model; "
                "what stands before stays as it is. Everything can be recalled, and undone."
            ),
            h("p", h("label", "Remember above all ", h("input", name="focus", size="40"))),
        ],
        "Compact",
        links.page(f"fold/{number}"),
        links.message(number) or links.page(),
        token,
    )


def _confirm(title: str, words: Child, yes: str, action: str, back: str, token: str) -> Html:
    return h(
        "form",
        h("h1", title),
        words,
        h("input", type="hidden", name="token", value=token),
        h("p", h("button", yes, class_="strong"), " ", h("a", "No, go back", href=back)),
        method="post",
        action=action,
        class_="confirm",
    )
