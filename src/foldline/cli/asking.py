"""``--summarizer`` and what goes with it: a model that writes the account in a snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from foldline.core.config import Config
from foldline.core.spending import Spent
from foldline.core.summary import TEMPLATE_NAMES

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


def asking(command: Command) -> Command:
    """Give a command the options of `Asking`."""
    for option in (
        click.option(
            "--max-usd", "usd", metavar="N", type=click.FloatRange(0), help="Pay a model no more."
        ),
        click.option(
            "--template",
            type=click.Choice(TEMPLATE_NAMES),
            help="What the model writes; unless given, a plain account.",
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
