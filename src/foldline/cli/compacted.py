"""What ``foldline compact`` has done: the compaction, and where it can be recalled from."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from foldline.api import Compaction
from foldline.archive import Archive
from foldline.cli.options import make_folder
from foldline.cli.reading import Opened
from foldline.engine.receipt import Receipt
from foldline.values.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction; ``archive`` and ``session`` are where its originals are kept, if anywhere."""

    opened: Opened
    result: Compaction[None]
    counter: TokenCounter
    archive: Path | None = None
    session: str = ""

    @property
    def receipt(self) -> Receipt:
        """The receipt of the compaction."""
        return self.result.receipt

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read, and what else the receipt warns of, each once."""
        return tuple(dict.fromkeys((*self.opened.warnings, *self.receipt.warnings)))

    def to_dict(self, to: str | None, out: Path | None, content: bytes | None) -> dict[str, Any]:
        """
        Return what was done as JSON values.

        Args:
            to: The wire format that was asked for.
            out: Where the result was written; None for stdout.
            content: The result where it was written nowhere else.
        """
        opened = self.opened
        return {
            "file": opened.name,
            "format": opened.recording.format,
            "conversation": {
                "name": opened.conversation.name,
                "number": opened.index + 1,
                "of": len(opened.recording.conversations),
            },
            "to": to,
            "output": None if out is None else str(out),
            "archive": None if self.archive is None else str(self.archive),
            "session": self.session or None,
            "receipt": self.receipt.to_dict() | {"warnings": list(self.warnings)},
            "result": None if content is None else _value(content),
        }


def kept_in_archive(done: Compacted, path: Path | None) -> Compacted:
    """
    Keep the original where handles are recalled from, before anything names one.

    Args:
        done: A compaction.
        path: The archive; None to keep nothing.

    Raises:
        StoreError: It cannot be kept.
    """
    if path is None or done.receipt.status != "compacted":
        return done
    make_folder(path)
    with Archive.open(path) as archive:
        session = archive.save(_title(done.opened), done.result.transcript, done.receipt)
    return replace(done, archive=path, session=session)


def _title(opened: Opened) -> str:
    """Name the session after the file; what came through a pipe after its first message."""
    messages = opened.transcript.messages
    first = f" {messages[0].id[:8]}" if opened.name == "stdin" and messages else ""
    name = opened.name.encode("utf-8", "replace").decode()  # of a file: any bytes
    return f"{name}{first}" + (f" ({opened.place})" if opened.place else "")


def _value(content: bytes) -> Any:
    """Return a result as a JSON value where it is one, else as text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")
