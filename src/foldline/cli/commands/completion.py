"""``foldline completion``: a script for shell completion of commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from foldline.cli import options
from foldline.cli.output import Output
from foldline.errors import FoldlineError

EPILOG = """\b
Examples:
  foldline completion bash >> ~/.bashrc
  foldline completion zsh >> ~/.zshrc
  foldline completion fish > ~/.config/fish/completions/foldline.fish
"""

VARIABLE = "_FOLDLINE_COMPLETE"
"""Set by the script when it requests completions from foldline."""


@click.command("completion", epilog=EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@options.output
def command(shell: str, output: Output) -> None:
    """
    Print a script that makes a shell complete commands, options, formats and policies.

    Save it where the shell reads it at startup, then open a new shell.
    """
    found = get_completion_class(shell)
    if found is None:
        raise FoldlineError(f"This version of click has no completion for {shell}.")
    program = click.get_current_context().find_root()
    script = found(program.command, {}, program.info_name or "foldline", VARIABLE).source()
    output.result("completion/1", {"shell": shell, "script": script}, text=script)
