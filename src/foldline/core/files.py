"""Which files are put back after a compaction, how many, and how large they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from foldline.core.amounts import positive, whole
from foldline.core.errors import BudgetError

PATH_KEYS: Final = (
    "file_path",
    "filepath",
    "path",
    "file",
    "filename",
    "target_file",
    "notebook_path",
    "absolute_path",
    "paths",
    "files",
)
"""The names under which the tools of known agents take the path of a file."""

READS: Final = ("read", "cat", "view", "open", "show")
WRITES: Final = ("write", "create", "save")
EDITS: Final = ("edit", "replace", "patch", "insert", "update", "append", "delete", "rename")
"""Words in the names of tools that read, write and change files."""

SECRETS: Final = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "id_rsa*",
    "id_ed25519*",
    ".netrc",
    "credentials*",
)
"""Names of files that are not put back, although a tool has read them."""


@dataclass(frozen=True, slots=True)
class FileSettings:
    """
    Which files are put back after a compaction has taken them out of sight.

    Nothing is put back unless ``root`` names a directory: this reads the disk, and never outside
    of that directory. The newest ``count`` files by last touch come back, each with up to
    ``file_tokens`` tokens, all of them together with up to ``total_tokens`` and up to ``share``
    of the target of the compaction.

    A touch is a call of a tool whose name is, or has as a word in it, one of ``reads``,
    ``writes`` or ``edits``, with a path under one of ``path_keys``; upper and lower case are the
    same. Files whose name fits a pattern of ``never`` stay out, and so does what a tool was
    refused.

    Raises:
        BudgetError: A number is out of range, or a list holds something else than texts.
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
                hint="Give its path, or None to put no file back.",
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
        """Whether files are put back at all."""
        return self.root is not None and min(self.count, self.file_tokens, self.total_tokens) > 0
