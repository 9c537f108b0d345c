"""The script of the recorded session: messages and tool calls, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """A message, and the tool calls in it."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()


def user(text: str) -> Turn:
    """Return a user message."""
    return Turn("user", text)


def agent(text: str, *calls: Call) -> Turn:
    """Return an assistant message with tool calls."""
    return Turn("assistant", text, calls)


def sh(*command: str) -> Call:
    """Return a call that runs a command."""
    return Call("shell", {"command": list(command)})


def read(path: str) -> Call:
    """Return a call that reads a file of the repository."""
    return Call("read_file", {"path": path})


def edit(path: str, old: str, new: str) -> Call:
    """Return a call that replaces a text in a file."""
    return Call("edit_file", {"path": path, "old": old, "new": new})


def write(path: str, content: str) -> Call:
    """Return a call that writes a new file."""
    return Call("write_file", {"path": path, "content": content})


SYSTEM = """\
You are a coding agent working in /repo, the source of the Python library foldline. Read before \
you change, run the tests after every change, and report honestly.

(About this recording: the words of the user and of the assistant are scripted; every tool output \
is real. It was made by examples/record_session.py.)"""

NOTES = """\
# Maintainers' notes

## Releases
- A release is tagged only from main, after the retention figures have been measured again.
- The changelog names what a user can see, not what we did inside.

## Staging
- The staging archive answers on port 48113 and is read-only on Fridays.
- Restore drills happen on the first Monday of a month; the last one took 11 minutes.

## Style
- Properties of a receipt are measured numbers. Never store what can be computed.
- A share is a fraction between 0 and 1; turning it into percent is up to whoever prints it.

## Known traps
- `tokens_before` is 0 for an empty conversation. Whoever divides by it, divides by zero.
- Receipts travel as JSON into archives; a new field needs a default, a property needs none.
"""

RECEIPT = "src/foldline/engine/receipt.py"
TEST = "tests/core/test_receipt_savings.py"
TESTS = """\
from __future__ import annotations

import pytest

from foldline.engine.receipt import Receipt


def receipt(before: int, after: int) -> Receipt:
    return Receipt("compacted", "clear", before, after, 9, 4, "estimate", "default", 1_000)


def test_saved_is_what_was_freed() -> None:
    assert receipt(8_000, 2_000).saved == 6_000


@pytest.mark.parametrize(("before", "after", "share"), [(8_000, 2_000, 0.75), (10, 10, 0.0)])
def test_saved_share_is_a_fraction(before: int, after: int, share: float) -> None:
    assert receipt(before, after).saved_share == share


def test_an_empty_conversation_saves_nothing() -> None:
    assert receipt(0, 0).saved_share == 0.0
"""
FIRST_TRY = '''\
    @property
    def saved(self) -> int:
        """Tokens that the compaction freed."""
        return self.tokens_before - self.tokens_after

    @property
    def saved_share(self) -> float:
        """The share of the tokens that was freed, from 0 to 1."""
        return self.saved / self.tokens_before

    def __str__(self) -> str:'''
PYTEST = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")

SCRIPT = (
    user(
        "Receipts should say how much a compaction saved. Please add two properties to Receipt: "
        "`saved`, in tokens, and `saved_share`, a fraction. Write the tests first. Before that, "
        "find out who makes receipts and who prints them, so that nothing else has to change. "
        "Do not touch the JSON that `to_dict` returns: programs read it."
    ),
    agent(
        "I begin with an overview: the history, the layout, and the notes of the maintainers.",
        sh("git", "log", "--format=%h %ad %s", "--date=short", "-n", "20"),
        sh("ls", "-R", "src/foldline"),
        read("NOTES.md"),
    ),
    agent("The settings of the project tell how tests and lint run.", read("pyproject.toml")),
    agent("Now the class itself.", read(RECEIPT)),
    agent(
        "It is a frozen dataclass with measured numbers only. Who makes one?",
        sh("grep", "-rn", "--include=*.py", r"Receipt(", "src", "tests"),
    ),
    agent(
        "Receipts are made in accounting and read back from archives. Both files.",
        read("src/foldline/engine/receipt.py"),
        read("src/foldline/engine/compaction.py"),
    ),
    agent(
        "The outcome comes from the ladder. What carries the numbers is the view and its counter.",
        read("src/foldline/values/view.py"),
        read("src/foldline/values/tokens.py"),
    ),
    agent("And budgets, which decide when anything happens.", read("src/foldline/core/budget.py")),
    agent("Now the front door, where a receipt reaches the user.", read("src/foldline/app.py")),
    agent(
        "Sessions keep receipts. I look for where they are written and read.",
        sh("grep", "-rn", "--include=*.py", "tokens_before", "src", "tests", "bench"),
    ),
    agent("The session's own file of receipts.", read("src/foldline/session/history.py")),
    agent(
        "And how compactions of a session are recorded.",
        read("src/foldline/session/compaction.py"),
        read("src/foldline/session/history.py"),
    ),
    agent(
        "The archive saves receipts of whole files.",
        read("src/foldline/archive.py"),
        read("src/foldline/session/codec.py"),
    ),
    user(
        "Good. One more thing that I forgot: whatever you add must also hold for receipts with "
        "status 'failed' and 'unchanged'. And our style guide wants docstrings with units."
    ),
    agent(
        "Understood: three states, units in the docstrings. I check what the numbers are in the "
        "other two states; the judge at the end of the ladder decides that.",
        sh("sed", "-n", "/^def _judge/,$p", "src/foldline/engine/compaction.py"),
    ),
    agent(
        "For 'failed' and 'unchanged' the view that came in is returned, so that both counts are "
        "equal and the saving is 0. Let me see which tests exist for this.",
        sh("ls", "tests", "tests/core"),
        sh("grep", "-rln", "receipt", "tests"),
    ),
    agent(
        "The session tests look at receipts most. I read how they build one.",
        read("tests/test_archive.py"),
    ),
    agent("The tests run before I change anything.", sh(*PYTEST, "tests/test_archive.py")),
    agent("All green. Now the tests for the new properties, first.", write(TEST, TESTS)),
    agent(
        "They must fail, because nothing has been written yet.",
        sh(*PYTEST, TEST),
    ),
    agent(
        "They fail for the right reason: Receipt has no attribute 'saved'. I look at the class "
        "once more to place the properties.",
        read(RECEIPT),
    ),
    agent(
        "The properties go before `__str__`.",
        edit(RECEIPT, "    def __str__(self):", FIRST_TRY),
    ),
    agent(
        "The old text was not exact: the method has a return annotation.",
        edit(RECEIPT, "    def __str__(self) -> str:", FIRST_TRY),
    ),
    agent("Run the tests.", sh(*PYTEST, TEST)),
    agent(
        "One failure: ZeroDivisionError for an empty conversation, the very trap that NOTES.md "
        "names. The root cause is dividing by tokens_before without a guard; `__str__` guards "
        "with max(1, …). I will use the same guard here instead of a special case.",
        edit(
            RECEIPT,
            "return self.saved / self.tokens_before",
            "return self.saved / max(1, self.tokens_before)",
        ),
    ),
    agent("Again.", sh(*PYTEST, TEST)),
    agent(
        "All pass. Does anything else in the core divide by a count of tokens?",
        sh("grep", "-rnE", "--include=*.py", r"/ (self\.)?[a-z_.]*tokens", "src/foldline"),
        sh("grep", "-rn", "--include=*.py", r"max(1,", "src/foldline"),
    ),
    agent(
        "Those are guarded. `__str__` computes the remaining share itself; I check how the "
        "strategies report what they free, so that the words agree.",
        read("src/foldline/core/strategy.py"),
        read("src/foldline/strategies/clear.py"),
    ),
    agent("The stubs say what was cleared.", read("src/foldline/strategies/stubs.py")),
    agent(
        "And the rest of the ladder, once, to be sure that no rung writes into a receipt.",
        read("src/foldline/strategies/truncate.py"),
        read("src/foldline/summary/summarize.py"),
        read("src/foldline/strategies/window.py"),
    ),
    agent("No rung does. The presets name the rungs.", read("src/foldline/engine/policies.py")),
    user("Why is the saving counted by the view and not from the messages that are returned?"),
    agent(
        "I look at how a view counts after edits, before I answer.",
        read("src/foldline/values/edits.py"),
        read("src/foldline/values/view.py"),
    ),
    agent(
        "Because only changed messages are counted again: `View.after` keeps the count of every "
        "message that is the same object, so that a compaction of a long log does not recount "
        "it. The sum is the same. The messages themselves:",
        read("src/foldline/values/messages.py"),
        read("src/foldline/values/identity.py"),
    ),
    agent(
        "Ids come from the content. What must never be removed is decided here:",
        read("src/foldline/values/protect.py"),
        read("src/foldline/values/groups.py"),
    ),
    agent(
        "Calls and results move together. The repair of broken histories, for completeness.",
        read("src/foldline/repair/repair.py"),
    ),
    agent(
        "Now the whole class again with the change, and the difference to before.",
        read(RECEIPT),
        sh("grep", "-rn", "saved", RECEIPT, TEST),
    ),
    agent(
        "Lint and the neighbouring tests.",
        sh("python", "-m", "ruff", "check", "--no-cache", RECEIPT, TEST),
        sh(*PYTEST, "tests/values/test_media.py", TEST),
    ),
    agent(
        "Done with the core. Recall is where users meet the handles of a receipt; I make sure "
        "that it reads no counts.",
        read("src/foldline/recall/recall_handle.py"),
        sh("grep", "-rn", "--include=*.py", "receipt", "src/foldline/recall"),
    ),
    agent(
        "It does not. The archive's tests once more.",
        sh(*PYTEST, "tests/test_archive.py", TEST),
    ),
    user(
        "Will somebody who works with sessions, not with compact(), see the new properties too? "
        "Please check the whole way, the store included."
    ),
    agent(
        "The front door of sessions first, with what it hands out.",
        read("src/foldline/session/session.py"),
        read("src/foldline/session/current_view.py"),
    ),
    agent(
        "A session hands out the Receipt object itself, so that its properties come along. How "
        "it survives a restart: the turn that writes, and the ports.",
        read("src/foldline/session/fair_lock.py"),
        read("src/foldline/session/state.py"),
        read("src/foldline/stores/protocol.py"),
    ),
    agent(
        "Now the store.",
        read("src/foldline/stores/sqlite.py"),
        read("src/foldline/stores/migrations.py"),
        read("src/foldline/stores/rows.py"),
    ),
    agent(
        "The store keeps JSON values and never looks inside. The tests of the store and one of "
        "the longest tests, which opens a session again.",
        sh(*PYTEST, "tests/stores/test_store.py"),
        sh("grep", "-n", "receipt", "tests/test_session.py"),
        read("tests/test_session.py"),
    ),
    agent(
        "Sessions read receipts back through `session/history.py`, which I read before; once "
        "more, to be sure that it builds the class and not a dictionary.",
        read("src/foldline/session/history.py"),
    ),
    agent(
        "It builds the class. The two ways in that are left are the wire formats.",
        read("src/foldline/formats/openai_chat.py"),
        read("src/foldline/formats/files.py"),
    ),
    agent(
        "Neither knows receipts. So yes: sessions, archives and compact() all return the same "
        "class, also after a restart, and the properties come along everywhere."
    ),
    user("Thank you. Is the JSON of a receipt really unchanged? Please prove it with a command."),
    agent(
        "I print the fields that `to_dict` returns.",
        sh(
            "python",
            "-c",
            "from foldline.engine.receipt import Receipt\n"
            "r = Receipt('failed', 'why', 10, 10, 1, 1, 'estimate', 'default', 5)\n"
            "print(sorted(r.to_dict()), r.saved, r.saved_share)",
        ),
    ),
    agent(
        "It is unchanged: neither `saved` nor `saved_share` is among the fields, and a failed "
        "compaction has saved 0 tokens, a share of 0.0."
    ),
    user("Then please write the changelog entry, one sentence, in the style of the notes."),
)
