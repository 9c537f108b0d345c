"""The console that draws, told apart from rich's own by what happens when nobody reads on."""

from __future__ import annotations

from rich.console import Console

from foldline.cli.exits import HungUp


class Screen(Console):
    """A console whose reader may hang up."""

    def on_broken_pipe(self) -> None:
        """Leave the exit code to `foldline.cli.exits`, where rich would choose 1."""
        raise HungUp
