"""``--summarizer`` and what goes with it: a model that writes the account in a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from foldline.cli.numbers import Number
from foldline.core.config import Config
from foldline.core.spending import Spent
from foldline.core.summary_settings import TEMPLATE_NAMES
from foldline.settings.templates import read_template

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked for an account, about what, in which form, and for how much money."""

    summarizer: str | None = None
    focus: str = ""
    template: str | None = None
    usd: float | None = None

    @classmethod
    def taken(cls, rest: dict[str, Any]) -> Asking:
        """Take the options of `asking` out of those of a command."""
        return cls(
            rest.pop("summarizer"), rest.pop("focus"), rest.pop("template"), rest.pop("usd")
        )

    def configured(self, config: Config) -> Config:
        """Return a configuration in which these options hold."""
        changes: dict[str, Any] = {}
        if self.summarizer is not None:
            changes["summarizer"] = self.summarizer
        if self.template is not None:
            changes["summary"] = {"template": self.template}
        if self.usd is not None:
            changes["limits"] = {"usd": self.usd}
        return config.replace(**changes) if changes else config


def _template(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Read the template that a file holds; a name stays a name."""
    if value is None or value in TEMPLATE_NAMES:
        return value
    if not Path(value).is_file():
        known = ", ".join(TEMPLATE_NAMES)
        raise click.BadParameter(
            f"{value[:80]!r} is neither a file nor one of {known}.", context, option
        )
    return read_template(Path(value))


def asking(command: Command) -> Command:
    """Give a command the options of `Asking`."""
    for option in (
        click.option("--max-usd", "usd", metavar="N", type=Number(0), help="Pay a model no more."),
        click.option(
            "--template",
            metavar="NAME|FILE",
            callback=_template,
            help=f"What the model writes: {', '.join(TEMPLATE_NAMES)}, or a file that says it.",
        ),
        click.option(
            "--focus", metavar="TEXT", default="", help="What is to be remembered above all."
        ),
        click.option(
            "--summarizer",
            metavar="MODEL",
            help="Ask this model for an account: anthropic:claude-haiku-4-5, openai:gpt-5-mini.",
        ),
    ):
        command = option(command)
    return command


def bill(spent: Spent) -> str:
    """Say in a few words what a model was paid; "" when none was asked."""
    if not spent.attempts:
        return ""
    tokens = f"{spent.input_tokens:,} tokens read, {spent.output_tokens:,} written"
    requests = "1 request" if spent.attempts == 1 else f"{spent.attempts} requests"
    price = f", ${spent.usd:.4f}" if spent.usd else ""
    return f"{spent.model or 'a model'}: {requests}, {spent.seconds:.1f} s, {tokens}{price}"
