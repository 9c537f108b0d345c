"""Settings of retention: the verbatim tail, cleared results, output sizes, reinjected files."""

from __future__ import annotations

from typing import Final, Literal

from foldline.core.validation import check_name, positive, whole
from foldline.errors import BudgetError
from foldline.frozen import frozen

STYLES = ("head", "tail", "head_tail", "salient")


@frozen
class Tail:
    """
    The verbatim tail of the view.

    ``fraction`` is of the target for the policies "default" and "salient" (0.10), and of the
    history for "fraction" (0.3); ``newest`` counts groups for "keep_recent" (20) and rounds for
    "rounds" (10). None is the policy's default.

    Raises:
        BudgetError: A number is out of range.
    """

    fraction: float | None = None
    newest: int | None = None

    def __post_init__(self) -> None:
        if self.fraction is not None:
            positive("tail.fraction", self.fraction, 1.0)
        if self.newest is not None:
            whole("tail.newest", self.newest)


@frozen
class Clearing:
    """
    Settings for clearing old tool results.

    The newest ``keep`` groups with results are not cleared. ``only`` names the tools whose results
    may be cleared, None for all; those of ``never`` are kept; case is ignored. Nothing is cleared
    for less than ``gain_tokens`` tokens, or than ``gain_fraction`` of the effective window if that
    is more.

    Raises:
        BudgetError: A number is out of range, or a tool is in both ``only`` and ``never``.
    """

    keep: int = 4
    only: tuple[str, ...] | None = None
    never: tuple[str, ...] = ()
    gain_tokens: int = 2_000
    gain_fraction: float = 0.05

    def __post_init__(self) -> None:
        whole("clearing.keep", self.keep)
        whole("clearing.gain_tokens", self.gain_tokens)
        positive("clearing.gain_fraction", self.gain_fraction, 1.0)
        for name in ("only", "never"):
            value = getattr(self, name)
            if value is not None and (
                not isinstance(value, tuple) or not all(isinstance(tool, str) for tool in value)
            ):
                raise BudgetError(
                    f"clearing.{name} is a tuple of tool names.", hint='Write it as ("read",).'
                )
        both = {tool.casefold() for tool in self.only or ()} & {t.casefold() for t in self.never}
        if both:
            raise BudgetError(
                f"The tool {min(both)!r} is in clearing.only and in clearing.never.",
                hint="Leave it in one of them.",
            )


@frozen
class Outputs:
    """
    Limits of a tool output when it is recorded, in tokens, lines and bytes of UTF-8.

    One of more than ``hard`` tokens is cut to ``soft``, by ``style``: its "head", its "tail",
    both ("head_tail"), or its most relevant lines ("salient"). If the result exceeds ``lines`` or
    ``bytes``, whole lines are removed. All of it stays recallable.

    Raises:
        BudgetError: ``soft`` is larger than ``hard``, a number is out of range, or there is no
            such style.
    """

    soft: int = 8_000
    hard: int = 20_000
    lines: int = 10_000
    bytes: int = 200_000
    style: Literal["head", "tail", "head_tail", "salient"] = "head_tail"

    def __post_init__(self) -> None:
        whole("outputs.soft", self.soft, 100)
        whole("outputs.hard", self.hard, 100)
        whole("outputs.lines", self.lines, 10)
        whole("outputs.bytes", self.bytes, 1_000)
        check_name("style", self.style, STYLES)
        if self.soft > self.hard:
            raise BudgetError(
                f"outputs.soft ({self.soft:,}) is larger than outputs.hard ({self.hard:,}).",
                hint="A cut output must be smaller than one that is not cut.",
            )

    def is_exceeded(self, text: str, tokens: int) -> bool:
        """Return True if an output of this size is cut when it is recorded."""
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return tokens > self.hard or text.count("\n") >= self.lines or size > self.bytes


PATH_KEYS: Final = (
    *("file_path", "filepath", "path", "file", "filename", "target_file", "notebook_path"),
    *("absolute_path", "paths", "files"),
)
"""Argument names for file paths in the tools of known agents."""

READS: Final = ("read", "cat", "view", "open", "show")
WRITES: Final = ("write", "create", "save")
EDITS: Final = ("edit", "replace", "patch", "insert", "update", "append", "delete", "rename")
"""Words in the names of tools that read, write and edit files."""

SECRETS: Final = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "id_rsa*", "id_ed25519*", ".netrc"),
    "credentials*",
)
"""Name patterns of files that are never reinjected."""


@frozen
class FileSettings:
    """
    Settings for reinjecting files after a compaction has removed them from the view.

    Nothing is reinjected unless ``root`` names a directory: files are read from disk, and never
    outside of that directory. The newest ``count`` files by last access are reinjected, each with
    up to ``file_tokens`` tokens, all of them together with up to ``total_tokens`` and up to
    ``share`` of the target of the compaction.

    An access is a call of a tool whose name is, or contains as a word, one of ``reads``,
    ``writes`` or ``edits``, with a path under one of ``path_keys``; case is ignored. Files whose
    name matches a pattern of ``never``, and files that a tool was refused, are excluded.

    Raises:
        BudgetError: A number is out of range, or a list holds values other than strings.
    """

    root: str | None = None
    count: int = 5
    file_tokens: int = 5_000
    total_tokens: int = 50_000
    share: float = 0.3
    path_keys: tuple[str, ...] = PATH_KEYS
    reads: tuple[str, ...] = READS
    writes: tuple[str, ...] = WRITES
    edits: tuple[str, ...] = EDITS
    never: tuple[str, ...] = SECRETS

    def __post_init__(self) -> None:
        path = getattr(self.root, "__fspath__", None)
        if path is not None:
            object.__setattr__(self, "root", path())
        if self.root is not None and (not isinstance(self.root, str) or not self.root):
            raise BudgetError(
                f"files.root is a directory, not {str(self.root)[:60]!r}.",
                hint="Give its path, or None to reinject no files.",
            )
        for name in ("count", "file_tokens", "total_tokens"):
            whole(f"files.{name}", getattr(self, name))
        positive("files.share", self.share, 1.0)
        for name in ("path_keys", "reads", "writes", "edits", "never"):
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(v, str) and v for v in value):
                raise BudgetError(f"files.{name} is a tuple of names.", hint='Write ("path",).')

    @property
    def is_on(self) -> bool:
        """Whether files are reinjected."""
        return self.root is not None and min(self.count, self.file_tokens, self.total_tokens) > 0
