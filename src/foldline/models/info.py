"""Limits, prices and cache rules of a model, read from a catalogue entry."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, Literal

from foldline.core.budget import UNKNOWN_WINDOW
from foldline.errors import InputError
from foldline.frozen import field, frozen
from foldline.values.messages import Usage

UNKNOWN_OUTPUT: Final = 8_192
"""Output cap assumed for an unknown model, in tokens."""

MILLION: Final = 1_000_000


@frozen
class Prices:
    """US dollars per million tokens; cache reads and writes may have no price of their own."""

    input: float
    output: float
    cache_write: float | None = None
    cache_read: float | None = None

    def of(self, usage: Usage) -> float:
        """Return the cost of a usage, in US dollars; without a cache price, as fresh input."""
        write = self.input if self.cache_write is None else self.cache_write
        read = self.input if self.cache_read is None else self.cache_read
        fresh = usage.input * self.input + usage.output * self.output
        return (fresh + usage.cache_write * write + usage.cache_read * read) / MILLION


@frozen
class CacheRules:
    """
    A provider's rules for caching a prompt prefix.

    ``seconds`` is the lifetime of a prefix after its last use, ``least`` its minimum length in
    tokens. ``write`` and ``read`` are the costs of a token as a factor of fresh input. An
    "explicit" cache keeps what the request marks, an "automatic" one everything it can.
    """

    kind: Literal["automatic", "explicit", "none"] = "none"
    seconds: float = 0.0
    least: int = 0
    write: float = 1.0
    read: float = 1.0


@frozen
class ModelInfo:
    """
    One model.

    ``window`` is the limit of request and answer together, ``input`` that of a request if it is
    lower, ``output`` that of an answer: all in tokens. ``long`` are the prices of requests of more
    than ``long_above`` tokens. ``tokens`` names the vocabulary, ``light`` the cheaper sibling, ""
    if there is none. ``thinks`` is True if reasoning is part of its output by default. ``as_of``
    is the date of the information in ``source``. ``resolved`` is False for an unknown model, whose
    limits are assumed.
    """

    name: str
    window: int = UNKNOWN_WINDOW
    output: int = UNKNOWN_OUTPUT
    input: int | None = None
    provider: str = ""
    prices: Prices | None = None
    long: Prices | None = None
    long_above: int = 0
    cache: CacheRules = field(default_factory=CacheRules)
    tokens: str = ""
    light: str = ""
    thinks: bool = False
    as_of: str = ""
    source: str = field(default="", repr=False)
    resolved: bool = True

    @property
    def readable(self) -> int:
        """Maximum size of a request, in tokens."""
        return self.window if self.input is None else min(self.input, self.window)


def price(model: ModelInfo, usage: Usage) -> float | None:
    """
    Return the cost of a request, in US dollars; None if the prices are unknown.

    Cache reads and writes have their own prices. A request is long by its whole input, cached or
    not, and then all of it is charged at the long price.
    """
    read = usage.read
    prices = model.long if model.long and read > model.long_above else model.prices
    return None if prices is None else prices.of(usage)


# --- entries of a catalogue --------------------------------------------------------------------

KINDS = ("automatic", "explicit", "none")


@frozen
class Provider:
    """
    A provider of models: protocol, address, and the environment variables of key and address.

    ``cache``, ``tokens`` and ``source`` are inherited by its models.
    """

    name: str
    protocol: str = "openai-chat"
    base_url: str = ""
    key: str = ""
    url: str = ""
    tokens: str = ""
    source: str = field(default="", repr=False)
    cache: Mapping[str, Any] = field(default_factory=dict, repr=False)


def read_provider(name: str, entry: Any) -> Provider:
    """
    Read a provider.

    Raises:
        InputError: A field is malformed.
    """
    where = f"providers.{name}"
    if not isinstance(entry, dict):
        raise InputError("expected an object", field=where)
    known = ("protocol", "base_url", "key", "url", "tokens", "source")
    texts = {key: _text(entry, key, where) for key in known if key in entry}
    return Provider(name, cache=_object(entry, "cache", where), **texts)


def read_model_info(
    entry: Any, index: int, providers: Mapping[str, Provider], as_of: str
) -> tuple[ModelInfo, list[str]]:
    """
    Read a model.

    Args:
        entry: An object of the list ``models``.
        index: Its position in the list.
        providers: The providers that it may inherit from.
        as_of: The date of the file, unless the entry has its own.

    Returns:
        The model, and all its names.

    Raises:
        InputError: A field is malformed; the error names it.
    """
    where = f"models[{index}]"
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        raise InputError("expected an object with a name", field=where)
    name = entry["name"]
    served = _text(entry, "provider", where)
    host = providers.get(served, Provider(served))
    aliases = entry.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        raise InputError("expected a list of names", field=f"{where}.aliases")
    prices, window = _prices(entry, where), _count(entry, "window", where)
    above = _object(entry, "above", where)
    info = ModelInfo(
        name,
        window=window,
        output=_count({"output": min(UNKNOWN_OUTPUT, window), **entry}, "output", where),
        input=_count(entry, "input", where) if "input" in entry else None,
        provider=served,
        prices=prices,
        long=_prices(above, f"{where}.above"),
        long_above=_count(above, "tokens", f"{where}.above") if above else 0,
        cache=_cache({**host.cache, **_object(entry, "cache", where)}, prices, f"{where}.cache"),
        tokens=_text(entry, "tokens", where) or host.tokens,
        light=_text(entry, "light", where),
        thinks=entry.get("thinks") is True,
        as_of=_text(entry, "as_of", where) or as_of,
        source=_text(entry, "source", where) or host.source,
    )
    return info, [name, *aliases]


def _prices(entry: Mapping[str, Any], where: str) -> Prices | None:
    usd, place = _object(entry, "usd", where), f"{where}.usd"
    if not usd:
        return None
    given = ("in", "out", *(name for name in ("write", "read") if name in usd))
    found = {name: _amount(usd, name, place) for name in given}
    return Prices(found["in"], found["out"], found.get("write"), found.get("read"))


def _cache(entry: Mapping[str, Any], prices: Prices | None, where: str) -> CacheRules:
    """Read the cache rules; the factors are derived from the prices."""
    kind: Literal["automatic", "explicit", "none"] = entry.get("kind", "none")
    if kind not in KINDS:
        raise InputError(f"expected one of {', '.join(KINDS)}", field=f"{where}.kind")
    if kind == "none":
        return CacheRules()
    factors = [1.0, 1.0]
    if prices is not None and prices.input > 0:
        cached = (prices.cache_write, prices.cache_read)
        factors = [1.0 if usd is None else usd / prices.input for usd in cached]
    seconds = _amount({"seconds": 300.0, **entry}, "seconds", where)
    return CacheRules(kind, seconds, _count({"least": 1, **entry}, "least", where), *factors)


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key, "")
    if not isinstance(value, str):
        raise InputError("expected a text", field=f"{where}.{key}")
    return value


def _object(entry: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = entry.get(key, {})
    if not isinstance(value, dict):
        raise InputError("expected an object", field=f"{where}.{key}")
    return value


def _count(entry: Mapping[str, Any], key: str, where: str) -> int:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise InputError("expected a positive whole number", field=f"{where}.{key}")
    return value


def _amount(entry: Mapping[str, Any], key: str, where: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError("expected a number", field=f"{where}.{key}")
    if not isfinite(value) or value < 0:
        raise InputError("expected a number of 0 or more", field=f"{where}.{key}")
    return float(value)
