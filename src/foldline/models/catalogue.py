"""
The catalogue of known models: limits, prices and cache rules.

The numbers are data, in ``catalogue.json``, with the day and the source of each. Custom models
come from a file of the same form, named by FOLDLINE_MODELS or an argument, or from
`Catalogue.with_models`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Self

from foldline.core.summary_settings import SummarySettings
from foldline.core.validation import suggest_name
from foldline.errors import InputError
from foldline.frozen import field, frozen, replace
from foldline.models.info import ModelInfo, Provider, read_model_info, read_provider

VARIABLE: Final = "FOLDLINE_MODELS"
"""The environment variable that names a file of custom models."""

LARGEST: Final = 4 << 20
"""Maximum size of a file of models, in bytes."""


@frozen
class Catalogue:
    """
    Models by their plain names, and the providers that serve them.

    Catalogues are immutable; `with_models` returns another one.
    """

    models: Mapping[str, ModelInfo]
    providers: Mapping[str, Provider] = field(default_factory=dict)

    @classmethod
    def load(cls, path: str | os.PathLike[str] | None = None) -> Self:
        """
        Load the bundled models and custom ones.

        Args:
            path: A JSON file of custom models; default the one that the environment variable
                FOLDLINE_MODELS names, if any.

        Raises:
            InputError: The file cannot be read, or an entry is malformed; the error names it.
        """
        own = os.fspath(path) if path is not None else os.environ.get(VARIABLE, "")
        known = _load_bundled()
        if not own:
            return cls(known.models, known.providers)
        models, providers = _read(_contents(Path(own)), own, known.providers)
        return cls({**known.models, **models}, {**known.providers, **providers})

    def with_models(self, *models: ModelInfo, aliases: Iterable[str] = ()) -> Self:
        """Return a catalogue with models added or replaced; ``aliases`` name the last of them."""
        added = {normalize_name(model.name): model for model in models}
        if models:
            added |= {normalize_name(alias): models[-1] for alias in aliases}
        return replace(self, models={**self.models, **added})

    @property
    def size(self) -> int:
        """How many models are known, aliases not counted."""
        return len({info.name for info in self.models.values()})

    def keys(self) -> dict[str, bool]:
        """Map every environment variable for a key to whether it is set."""
        return {p.key: bool(os.environ.get(p.key)) for p in self.providers.values() if p.key}

    def full_name(self, name: str) -> str:
        """Return the provider's name for a one-word alias of a model; else the name itself."""
        info = self.models.get(normalize_name(name))
        return info.name if info is not None and name.strip().isalpha() else name

    def find(self, name: str | None) -> ModelInfo:
        """
        Look up a model.

        Args:
            name: Any of its names: with a vendor ("anthropic/…", "us.anthropic.…", "models/…"),
                with a date, with a requested window ("…[1m]").

        Returns:
            The model; if it is unknown, one with ``resolved`` False and a window of 128,000
            tokens.
        """
        requested = name or ""
        key = longest_prefix(normalize_name(requested), self.models)
        if not key:
            return ModelInfo(requested, resolved=False)
        info = self.models[key]
        window = window_suffix(requested)
        return info if window is None else replace(info, window=max(window, info.output))


def known_name(model: str | None) -> str | None:
    """Return the catalogue's name of a model such as "sonnet"; an unknown name unchanged."""
    if not model:
        return None
    info = Catalogue.load().find(model)
    return info.name if info.resolved else model


def unknown_model(model: str | None) -> str:
    """Return a warning with similar names for a model not in the catalogue; "" if it is known."""
    if not model:
        return ""
    known = Catalogue.load()
    if known.find(model).resolved:
        return ""
    near = suggest_name(normalize_name(model), known.models)
    return (
        f"The model {model[:100]!r} is not known: "
        "its tokens are counted like those of a common one. "
        f"{near}Give window= and counter=, or name it in a file of models."
    )


@cache
def _load_bundled() -> Catalogue:
    text = Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8")
    return Catalogue(*_read(text, "catalogue.json", {}))


def _contents(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is larger than {LARGEST:,} bytes", hint="Name another file.")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        why = f"The models in {path} cannot be read: {error}"
        raise InputError(why, hint=f"Check {VARIABLE}.") from error


def _read(
    text: str, where: str, known: Mapping[str, Provider]
) -> tuple[dict[str, ModelInfo], dict[str, Provider]]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is not JSON: {error}", hint="Repair the file.") from error
    if not isinstance(whole, dict) or not isinstance(whole.get("models"), list):
        raise InputError(f"{where} holds no list of models", field="models")
    as_of = whole.get("as_of") if isinstance(whole.get("as_of"), str) else ""
    entries: Any = whole.get("providers", {})
    if not isinstance(entries, dict):
        raise InputError(f"{where}: expected an object", field="providers")
    providers = {name: read_provider(name, entry) for name, entry in entries.items()}
    hosts, models = {**known, **providers}, dict[str, ModelInfo]()
    for index, entry in enumerate(whole["models"]):
        info, names = read_model_info(entry, index, hosts, as_of or "")
        models |= {normalize_name(name): info for name in names}
    return models, providers


LONGEST: Final = 200
"""Maximum length of a name, in characters."""

VENDOR: Final = re.compile(
    r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|deepseek|moonshotai|moonshot|zai|qwen|alibaba)\."
)
"""A vendor, and a region before it, as in ``us.anthropic.claude…``."""

WINDOW: Final = re.compile(r"\[(\d{1,3})([km])\]$")
"""A window requested with the name, as in ``claude-sonnet-4-5[1m]``."""

DEPLOYED: Final = re.compile(r"-v\d{1,2}(?:-\d{1,2})?$")
"""The version of a deployment, as in ``claude-sonnet-4-20250514-v1:0``."""

SHORT: Final = re.compile(r"^(?=(?:opus|sonnet|haiku|fable|mythos)-)")
"""The start of a Claude name without its family, as in ``sonnet-4-5``."""

VERSION: Final = re.compile(r"-\d{1,2}[a-z]?(?:-|$)")
"""A further version number, which makes it another model, such as 5 in ``sonnet-4-5``."""


def normalize_name(name: str) -> str:
    """
    Return the plain name of a model.

    Case, vendor, region, path prefix and tag suffix are removed; "." and "_" become "-". Dates are
    kept, because they distinguish models.
    """
    plain = WINDOW.sub("", name.strip().lower()[:LONGEST])
    plain = VENDOR.sub("", plain.rsplit("/", 1)[-1])
    head, _, tag = plain.partition(":")
    if not tag.isdigit():
        plain = head
    plain = re.sub(r"[._:@\s]+", "-", plain).strip("-~")
    return SHORT.sub("claude-", DEPLOYED.sub("", plain))


def longest_prefix(name: str, known: Iterable[str]) -> str:
    """
    Return the longest known name that is a prefix of a name, "" if there is none.

    The rest may be a date or a word, but not a further version number: a later model is unknown
    rather than mistaken for its predecessor.
    """
    rests = {begin: name.removeprefix(begin) for begin in filter(name.startswith, known)}
    fits = (b for b, r in rests.items() if not r or (r[0] == "-" and not VERSION.match(r)))
    return max(fits, key=len, default="")


def window_suffix(name: str) -> int | None:
    """Return the window requested with a name, in tokens; None if there is none."""
    found = WINDOW.search(name.strip().lower())
    if found is None:
        return None
    return int(found[1]) * (1_000_000 if found[2] == "m" else 1_000)


# --- the summarizer ------------------------------------------------------------------------

SAME, LIGHT = "same", "light"

READ: Final = 0.6
"""Longest history to summarize, as a fraction of the agent's window."""

REQUESTS: Final = SummarySettings().chunks
"""Maximum number of requests for one summary."""


@frozen
class ModelChoice:
    """The chosen model, and why it is not the requested one; "" if it is."""

    name: str
    reason: str = ""


def light(model: str, catalogue: Catalogue | None = None) -> str:
    """
    Return the light sibling of a model: cheaper and faster, of the same provider.

    Args:
        model: Any name of a model.
        catalogue: The known models; default the result of `Catalogue.load`.

    Returns:
        The sibling; the model itself if it has none or is unknown.
    """
    known = catalogue or Catalogue.load()
    return known.find(_bare(model)).light or model


def choose_summarizer(which: str, of: str, catalogue: Catalogue | None = None) -> ModelChoice:
    """
    Choose the summarizer for the history of a model.

    Args:
        which: "same", "light", or the name of a model.
        of: The model whose history it is.
        catalogue: The known models; default the result of `Catalogue.load`.

    Returns:
        The choice. If the light sibling could not read the agent's history even in several
        requests, it is the same model; an explicitly named model is always taken, and the reason
        warns if its window is too small.

    Raises:
        InputError: ``which`` depends on the agent's model, and no model is given.
    """
    if which in (SAME, LIGHT) and not of:
        why = f"the summarizer {which!r} depends on the agent's model, which is not known"
        hint = 'Give model="…", or name the summarizer itself, as in "openai:gpt-5-mini".'
        raise InputError(why, field="summarizer", hint=hint)
    if which == SAME:
        return ModelChoice(of)
    known = catalogue or Catalogue.load()
    own = known.find(_bare(of))
    name = light(of, known) if which == LIGHT else which
    other = known.find(_bare(name))
    if not own.resolved or other.readable * REQUESTS >= READ * own.window:
        return ModelChoice(name)
    why = (
        f"{other.name} reads {other.readable:,} tokens at once, "
        f"too few for a history of up to {own.window:,} tokens"
    )
    if which == LIGHT:
        return ModelChoice(of, f"{why}; {of} summarizes itself")
    return ModelChoice(name, f"{why}; it will see a part of it" if other.resolved else "")


def _bare(model: str) -> str:
    """Remove the protocol, as in ``openai:…``, from a name."""
    head, colon, rest = model.partition(":")
    return rest if colon and rest and "/" not in head and "." not in head else model
