"""Where Foldline keeps things: FOLDLINE_HOME, or what the system gives every user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

HOME: Final = "FOLDLINE_HOME"
"""The environment variable that names a folder for everything."""


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return where content is kept."""
    home = _home(environ)
    if home:
        return Path(home)
    from platformdirs import user_data_path

    return user_data_path("foldline", appauthor=False)


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return where the settings of the user are."""
    home = _home(environ)
    if home:
        return Path(home)
    from platformdirs import user_config_path

    return user_config_path("foldline", appauthor=False)


def _home(environ: Mapping[str, str] | None) -> str:
    return (os.environ if environ is None else environ).get(HOME, "")
