"""Where the programs are: in directories of the system, never where ``PATH`` or a model says."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

from foldline.tools.terminal.refusal import Refused

FOLDERS: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin")
"""Looked through in this order."""

PACKAGES: Final = {"rg": "ripgrep", "awk": "mawk"}


@cache
def find_binary(name: str) -> str | None:
    """Return the absolute path of a program, None when this machine has none."""
    for folder in FOLDERS:
        path = f"{folder}/{name}"
        if Path(path).is_file() and os.access(path, os.X_OK):
            return path
    return None


def located(name: str) -> str:
    """
    Return the absolute path of a program.

    Raises:
        Refused: This machine has none.
    """
    path = find_binary(name)
    if path is None:
        package = PACKAGES.get(name, name)
        raise Refused(f"{name} is not installed here.", f"Install the package {package}.")
    return path
