"""
Loading of the configuration from five sources, with the origin of each setting.

In order of precedence: arguments, the environment, the project's file, the user's file, the
defaults. ``scenario`` names a set of settings that replaces the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from foldline.core.config import SCENARIOS, Config
from foldline.core.settings_codec import leaves
from foldline.core.validation import suggest_name
from foldline.errors import BudgetError
from foldline.frozen import field, frozen
from foldline.settings.sources import (
    environment_settings,
    file_settings,
    flatten,
    variable,
    with_template,
)

SCENARIO: Final = "scenario"
ENVIRONMENT: Final = "environment"


@frozen
class Settings:
    """
    A configuration, and the origin of each setting.

    ``origins`` maps the dotted key of every setting to "default", "scenario NAME", the path of a
    file, the name of an environment variable, or "argument".
    """

    config: Config
    origins: Mapping[str, str] = field(repr=False)

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Yield key, value and origin of every setting, in order."""
        values = flatten(self.config.to_dict(), "the configuration")
        for key, origin in self.origins.items():
            yield key, values[key], origin


def load(
    arguments: Mapping[str, Any] | None = None,
    *,
    start: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """
    Load the settings in effect in a folder.

    Args:
        arguments: Settings with the highest precedence: dotted keys, or tables as in a file.
        start: The folder where the search for the project's file starts; default the working
            directory.
        environ: The environment; default that of this process.

    Raises:
        InputError: A file cannot be read.
        BudgetError: A setting is unknown or invalid; the error names its origin.
    """
    world = os.environ if environ is None else environ
    folder = Path.cwd() if start is None else Path(start)
    given_here = flatten(arguments or {}, "argument")
    here = [(ENVIRONMENT, dict(environment_settings(world))), ("argument", given_here)]
    here = [(place, with_template(given, folder)) for place, given in here]
    layers = [*file_settings(folder, world), *here]
    layers = [*_scenario(layers), *layers]
    known = [leaf.key for leaf in leaves(Config)]
    origins = dict.fromkeys(known, "default")
    values: dict[str, Any] = {}
    for place, given in layers:
        for key, value in given.items():
            if key not in origins:
                raise _unknown_setting(key, place, known)
            values[key] = value
            origins[key] = variable(key) if place == ENVIRONMENT else place
    return Settings(_build(values, origins), origins)


def load_config(**arguments: Any) -> Config:
    """
    Return the configuration in effect here, from arguments, environment, project and user.

    Args:
        **arguments: Settings with the highest precedence, such as ``thresholds={"act_at": 0.7}``.

    Raises:
        InputError: A file cannot be read.
        BudgetError: A setting is unknown or invalid; the error names its origin.
    """
    return load(arguments).config


Layer: TypeAlias = tuple[str, dict[str, Any]]
"""An origin of settings, and their values by dotted keys."""


def _scenario(layers: list[Layer]) -> list[Layer]:
    """Return the layers with the scenario as the lowest one; the last setting of it wins."""
    found = [(given.pop(SCENARIO), place) for place, given in layers if SCENARIO in given]
    if not found:
        return []
    name, place = found[-1]
    if not isinstance(name, str) or name not in SCENARIOS:
        near = suggest_name(str(name), SCENARIOS)
        hint = f"{near}Known: {', '.join(SCENARIOS)}."
        raise BudgetError(f"There is no scenario {str(name)[:40]!r}, in {place}.", hint=hint)
    return [(f"scenario {name}", flatten(SCENARIOS[name], name))]


def _unknown_setting(key: str, place: str, known: list[str]) -> BudgetError:
    """Return the error for an unknown key, with a similar known one."""
    last = {name.rpartition(".")[2]: name for name in known}
    near = suggest_name(key, known) or suggest_name(key.rpartition(".")[2], last)
    hint = f"{near}'foldline config show' lists all of them."
    return BudgetError(f"There is no setting {key[:80]!r}, in {place}.", hint=hint)


def _build(values: Mapping[str, Any], origins: Mapping[str, str]) -> Config:
    table: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (table.setdefault(section, {}) if section else table)[name] = value
    try:
        return Config.from_dict(table)
    except BudgetError as error:
        named = {origins[key] for key in values if key.rpartition(".")[2] in error.message}
        places = ", ".join(sorted(named or {origins[key] for key in values}))
        raise BudgetError(f"{error.message} This is set in: {places}.", hint=error.hint) from error
