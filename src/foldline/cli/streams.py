"""Safe stdin, stdout and stderr under any terminal, pipe or service."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TYPE_CHECKING, Final, TextIO

from foldline.cli.errors import OutputError
from foldline.errors import InputError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PLAIN: Final = {
    "…": "...",
    "→": "->",
    "·": "-",
    "×": "x",
    "—": "-",
    "–": "-",
    "█": "#",
    "░": ".",
    "■": "#",
    "✓": "+",
    "✗": "!",
    "’": "'",
    "“": '"',
    "”": '"',
}
"""Plain replacements of our own symbols, for terminals that lack them."""

_ERRORS: Final = "foldline.plain"


def prepare() -> None:
    """
    Make stdin, stdout and stderr safe to use, closed or not.

    A character that the terminal's encoding lacks is replaced. Output that cannot be written to
    stderr is lost and changes neither result nor exit code. Writing to a stdout that was closed
    is an `OutputError`.
    """
    codecs.register_error(_ERRORS, _replace_plainly)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(), "utf-8")
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(_Forgiving(None), "utf-8", write_through=True)
    elif isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _make_forgiving(sys.stderr)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed(), "utf-8", write_through=True)
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _name_errors(sys.stdout)


def read_stdin(most: int, field: str = "") -> bytes:
    """
    Read all of stdin.

    Args:
        most: Maximum size, in bytes.
        field: The purpose of the input, for the error.

    Raises:
        InputError: The input is larger.
    """
    data = sys.stdin.buffer.read(most + 1)
    if len(data) > most:
        raise InputError(f"stdin has more than {most:,} bytes", field=field)
    return data


def decode_input(data: bytes, name: str) -> str:
    """
    Decode a text in any encoding.

    Args:
        data: The bytes.
        name: The name of the input in errors.

    Raises:
        InputError: They are not text.
    """
    from foldline.memory.text_extraction import decode_text

    try:
        return decode_text(data, name).text
    except InputError as error:
        raise InputError(f"{name} is not text", hint="Give a text, in UTF-8.") from error


LARGEST_TEXT: Final = 1 << 20
"""Maximum bytes read from stdin for one note or memory."""


def text_argument(given: str, field: str) -> str:
    """
    Return a text from the command line, or all of stdin for ``-``.

    Raises:
        InputError: There is more than `LARGEST_TEXT`, or it is not text.
    """
    if given != "-":
        return given
    return decode_input(read_stdin(LARGEST_TEXT, field), "stdin").removesuffix("\n")


def _make_forgiving(stream: io.TextIOWrapper) -> TextIO:
    buffer = io.BufferedWriter(_Forgiving(stream.fileno()))
    return io.TextIOWrapper(buffer, stream.encoding, _ERRORS, line_buffering=True)


def _name_errors(stream: io.TextIOWrapper) -> TextIO:
    buffer = io.BufferedWriter(_NamedOutput(stream.fileno(), "wb", closefd=False))
    return io.TextIOWrapper(buffer, stream.encoding, _ERRORS, line_buffering=stream.line_buffering)


def _replace_plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that an encoding lacks: our symbols by plain ones, others by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    start = error.start
    first = error.object[start]
    if first in _PLAIN:
        return _PLAIN[first], start + 1
    whole = UnicodeEncodeError(error.encoding, error.object, start, start + 1, error.reason)
    return codecs.backslashreplace_errors(whole)


class _Forgiving(io.RawIOBase):
    """The descriptor of stderr; failed writes are dropped, and all writes if it is None."""

    def __init__(self, descriptor: int | None) -> None:
        self._file = None if descriptor is None else io.FileIO(descriptor, "wb", closefd=False)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file is not None and self._file.isatty()

    def fileno(self) -> int:
        if self._file is None:
            raise io.UnsupportedOperation("there is no stderr")
        return self._file.fileno()

    def write(self, data: ReadableBuffer) -> int:
        view = memoryview(data).cast("B")
        done = 0
        try:
            while self._file is not None and done < len(view):
                done += self._file.write(view[done:]) or 0
        except OSError:
            self._file = None
        return len(view)


class _NamedOutput(io.FileIO):
    """The descriptor of stdout; the first failed write names it, later writes are dropped."""

    _failed = False

    def write(self, data: ReadableBuffer) -> int:
        if self._failed:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self._failed = True
            error.filename = "stdout"
            raise


class _Closed(io.RawIOBase):
    """The stdout of a process that was started without one."""

    def writable(self) -> bool:
        return True

    def write(self, _: ReadableBuffer) -> int:
        raise OutputError(
            "There is no stdout to write to: it was closed.",
            hint="Leave it open, or write to a file with -o.",
        )
