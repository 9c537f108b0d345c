"""Options for compaction: the policy, its settings, pins, and the summarizer."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from foldline.cli.options import max_usd, together
from foldline.core.config import Config
from foldline.core.limits import Spent
from foldline.core.settings_codec import leaves, unknown_key_error
from foldline.core.strategy import Policy
from foldline.core.summary_settings import TEMPLATE_NAMES
from foldline.engine.policies import POLICIES, tuning
from foldline.engine.policies import policy as named_policy
from foldline.errors import BudgetError, InputError
from foldline.evaluation.figures import plural
from foldline.settings.sources import read_template, read_text
from foldline.values.handles import handles, near
from foldline.values.transcript import Transcript


def _template(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Read a template from a file; return a built-in name unchanged."""
    if value is None or value in TEMPLATE_NAMES:
        return value
    if not Path(value).is_file():
        known = ", ".join(TEMPLATE_NAMES)
        raise click.BadParameter(
            f"{value[:80]!r} is neither a file nor one of {known}.", context, option
        )
    return read_template(Path(value))


summarizer_options = together(
    click.option(
        "--summarizer",
        metavar="MODEL",
        help="Summarize with this model: anthropic:claude-haiku-4-5, openai:gpt-5-mini.",
    ),
    click.option("--focus", metavar="TEXT", default="", help="What the summary should focus on."),
    click.option(
        "--template",
        metavar="NAME|FILE",
        callback=_template,
        help=f"Form of the summary: {', '.join(TEMPLATE_NAMES)}, or a file of instructions.",
    ),
    max_usd("Maximum US dollars to pay the model."),
)
"""Options of the summarizer: its model, focus, template, and spending limit."""


def configure_summarizer(
    config: Config, summarizer: str | None, template: str | None, usd: float | None
) -> Config:
    """Return a configuration with the given summarizer options applied."""
    changes = {
        "summarizer": summarizer,
        "summary": None if template is None else {"template": template},
        "limits": None if usd is None else {"usd": usd},
    }
    return config.replace(**{name: one for name, one in changes.items() if one is not None})


def bill(spent: Spent) -> str:
    """Describe what a model cost, in a few words; "" if none was called."""
    if not spent.attempts:
        return ""
    tokens = f"{spent.input_tokens:,} tokens read, {spent.output_tokens:,} written"
    requests = plural(spent.attempts, "request")
    price = f", ${spent.usd:.4f}" if spent.usd else ""
    return f"{spent.model or 'a model'}: {requests}, {spent.seconds:.1f} s, {tokens}{price}"


def split_settings(settings: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """
    Split ``--set`` into settings that ``foldline config`` prints, and policy arguments.

    Args:
        settings: ``key=value``.

    Returns:
        Values by dotted key, and the settings that are arguments of the policy.

    Raises:
        BudgetError: A value has the wrong type for its setting.
    """
    known = {leaf.key: leaf for leaf in leaves(Config)}
    found, rest = {}, []
    for setting in settings:
        key, equals, text = _parse(setting)
        if equals and key in known:
            found[key] = read_text(known[key], text, key)
        elif "." in key:
            raise unknown_key_error(key, list(known))
        else:
            rest.append(setting)
    return found, tuple(rest)


def _parse(setting: str) -> tuple[str, str, str]:
    key, equals, text = setting.partition("=")
    return key.strip().replace("-", "_"), equals, text


def build_policy(
    name: str | None, settings: Sequence[str], config: Config | None = None
) -> Policy:
    """
    Make a policy.

    Args:
        name: A built-in policy; None for the one of ``config``.
        settings: ``key=value`` for arguments of the policy; ``_`` may be written ``-``.
        config: Arguments for the policy that it names; ``settings`` override them.

    Raises:
        BudgetError: There is no such policy or key, or the value has the wrong type.
    """
    base = config or Config()
    title = base.policy if name is None else name.replace("-", "_")
    if title not in POLICIES:
        return named_policy(title)  # its error lists the policies
    known = inspect.signature(POLICIES[title]).parameters
    arguments = tuning(base, title)
    for setting in settings:
        key, equals, text = _parse(setting)
        if not equals or key not in known:
            what = f"Policy {title} has no setting {key[:40]!r}." if equals else "Write key=value."
            own = ", ".join(known) or "none"
            hint = f"Its settings are: {own}; 'foldline config' prints all others."
            raise BudgetError(what, hint=hint)
        arguments[key] = _value(key, text.strip(), known[key].default)
    return named_policy(title, **arguments)


def _value(key: str, text: str, default: object) -> Any:
    """Parse a value as the type of the default: a whole number, a number, or names."""
    if not isinstance(default, (int, float)):
        return tuple(name.strip() for name in text.split(",") if name.strip())
    expected = "a whole number from 0 up" if isinstance(default, int) else "a number such as 0.2"
    with suppress(ValueError):
        value = int(text) if isinstance(default, int) else float(text)
        if 0 <= value < 1e9:
            return value
    raise BudgetError(f"{key} must be {expected}, not {text[:40]!r}.")


def pin_messages(transcript: Transcript, pins: Sequence[str], keep: int) -> Transcript:
    """
    Pin messages of a transcript.

    Args:
        transcript: The transcript to compact.
        pins: Positions (negative ones count from the end) or handles of messages.
        keep: Number of newest messages to pin as well.

    Raises:
        InputError: A pin names no message.
    """
    size = len(transcript.messages)
    chosen: list[int | str] = [_pin(transcript, pin) for pin in pins]
    return transcript.pin([*chosen, *range(max(0, size - keep), size)])


def _pin(transcript: Transcript, pin: str) -> int | str:
    size, text = len(transcript.messages), pin.strip().lower()
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdecimal() and len(digits) < 10 and -size <= int(text) < size:
        return int(text)
    found = near(text, handles(transcript.messages)) if len(text) >= 6 else []
    if len(found) != 1:
        raise InputError(
            f"There is no message {pin[:40]!r} to pin",
            hint=f"Give a position from 0 to {size - 1}, -1 for the last, or a handle.",
        )
    return found[0]
