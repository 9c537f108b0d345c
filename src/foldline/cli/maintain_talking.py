"""A conversation with the maintainer: questions, what is done for them, and a few commands."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from foldline.cli.output import Voice, one_line, write_text
from foldline.errors import FoldlineError

if TYPE_CHECKING:
    from foldline.agents import Event
    from foldline.agents.maintainer import CodebaseMaintainer, Mode
    from foldline.agents.maintainer.answering import Answer

HELP: Final = """\
/mode NAME   auto, explore, analyze or plan      /notes    what is recorded
/check       what does not hold any more         /report   write a report
/resume      go on with what was broken off      /quit     leave (or Ctrl-D)
Ctrl-C breaks off an answer; nothing of it is lost."""

LONGEST_HISTORY: Final = 1_000


def answer(one: CodebaseMaintainer, voice: Voice, question: str | None, mode: Mode) -> Answer:
    """Ask one question, or go on with one, and tell on stderr what is done for it."""
    if question is not None and one.opened is None:
        with voice.working("Counting", long=True):
            return one.run(question, mode)
    return one.ended(_told(one.stream(question, mode), voice), mode)


def _told(events: Iterator[Event], voice: Voice) -> Iterator[Event]:
    from foldline.agents import Called, Compacted, Resumed, Retried

    for event in events:
        match event:
            case Called(call):
                voice.note(f"  {call.name} {one_line(call.arguments, 100)}")
            case Compacted(receipt):
                before, after = receipt.tokens_before, receipt.tokens_after
                voice.note(f"  compacted: {before:,} → {after:,} tokens")
            case Retried(reason=reason):
                voice.note(f"  asked again: {one_line(reason, 100)}")
            case Resumed(changes=changes):
                voice.note(f"  resumed; changed meanwhile: {changes}")
        yield event


def talk(one: CodebaseMaintainer, voice: Voice, mode: Mode, *, resume: bool) -> None:
    """Hold a conversation until the person leaves."""
    talking = Talking(one, voice, mode)
    voice.note(f"{one.project_name} in {one.root.path}. Ask, or type /help.")
    with _history(one):
        if resume:
            talking.ask(None)
        while True:
            try:
                line = input(f"{talking.mode}> ").strip()
            except EOFError:
                voice.note("")
                return
            except KeyboardInterrupt:
                voice.note("")
                continue
            if line in ("/quit", "/exit"):
                return
            if line:
                talking.take(line)


class Talking:
    """What a line of a conversation does."""

    def __init__(self, one: CodebaseMaintainer, voice: Voice, mode: Mode) -> None:
        self.mode = mode
        self._one = one
        self._voice = voice
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: self._say(HELP),
            "/mode": self._change_mode,
            "/notes": self._notes,
            "/check": lambda _: self._say("\n".join(one.check().lines()) or "All of it holds."),
            "/report": lambda _: self._say(one.generate_report()["report_page"]),
            "/resume": lambda _: self.ask(None),
        }

    def take(self, line: str) -> None:
        """Do what a line says; errors are told, and the conversation goes on."""
        word, _, rest = line.partition(" ")
        try:
            if not line.startswith("/"):
                self.ask(line)
            elif word in self._commands:
                self._commands[word](rest.strip())
            else:
                self._say(f"There is no command {word[:40]}.\n{HELP}")
        except FoldlineError as error:
            self._say(f"{error}")

    def ask(self, question: str | None) -> None:
        """Ask, or go on where ``question`` is None; Ctrl-C breaks it off."""
        try:
            said = answer(self._one, self._voice, question, self.mode)
        except KeyboardInterrupt:
            self._voice.note("\nBroken off; /resume goes on.")
            return
        except FoldlineError as error:
            self._say(f"{error}\n/resume goes on.")
            return
        write_text(str(said))
        if said.status != "done" and said.result is not None:
            self._voice.note(f"Ended early: {said.result.note}.")

    def _change_mode(self, name: str) -> None:
        from foldline.agents.maintainer.modes import MODES

        found = next((mode for mode in MODES if mode == name), None)
        if found is None:
            self._say(f"The modes are {', '.join(MODES)}.")
        else:
            self.mode = found

    def _notes(self, query: str) -> None:
        rows = self._one.knowledge.found(query, limit=30)
        self._say("\n".join(map(_line, rows)) or "Nothing is recorded yet.")

    def _say(self, text: str) -> None:
        write_text(text)


def _line(row: dict[str, Any]) -> str:
    """Return a note or a memory on one line; a star marks what has to be looked at again."""
    stale = " *" if "attention" in row else ""
    title = one_line(row.get("title") or row["content"], 70)
    return (
        f"{row.get('type', 'memory'):11} {row.get('note_id') or row['memory_id']}  {title}{stale}"
    )


@contextlib.contextmanager
def _history(one: CodebaseMaintainer) -> Iterator[None]:
    """Let lines be edited, and remember them, where this system can."""
    try:
        import readline
    except ImportError:  # pragma: no cover  # not on every system
        yield
        return
    path = str(one.place.history)
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(LONGEST_HISTORY)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            readline.write_history_file(path)
