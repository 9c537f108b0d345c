"""Reading the entries of a catalogue: strict, because a wrong number costs money later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from foldline.errors import InputError
from foldline.models.info import CacheRules, ModelInfo, Prices

KINDS = ("automatic", "explicit", "none")


@dataclass(frozen=True, slots=True)
class Provider:
    """
    Who serves models: the protocol, the address, and the environment variables of key and address.

    ``cache``, ``tokens`` and ``source`` are what its models inherit.
    """

    name: str
    protocol: str = "openai-chat"
    base_url: str = ""
    key: str = ""
    url: str = ""
    tokens: str = ""
    source: str = field(default="", repr=False)
    cache: Mapping[str, Any] = field(default_factory=dict, repr=False)


def provider(name: str, entry: Any) -> Provider:
    """
    Read a provider.

    Raises:
        InputError: A field is malformed.
    """
    where = f"providers.{name}"
    if not isinstance(entry, dict):
        raise InputError("expected an object", field=where)
    texts = {
        key: _text(entry, key, where)
        for key in ("protocol", "base_url", "key", "url", "tokens", "source")
        if key in entry
    }
    return Provider(name, cache=_object(entry, "cache", where), **texts)


def model_info(
    entry: Any, index: int, providers: Mapping[str, Provider], as_of: str
) -> tuple[ModelInfo, list[str]]:
    """
    Read a model.

    Args:
        entry: An object of the list ``models``.
        index: Its position there.
        providers: Those that it may inherit from.
        as_of: The day of the file, unless the entry has its own.

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
    prices = _prices(entry, "usd", where)
    above = _object(entry, "above", where)
    window = _count(entry, "window", where)
    info = ModelInfo(
        name,
        window=window,
        output=_count(entry, "output", where) if "output" in entry else min(8_192, window),
        input=_count(entry, "input", where) if "input" in entry else None,
        provider=served,
        prices=prices,
        long=_prices(above, "usd", f"{where}.above"),
        long_above=_count(above, "tokens", f"{where}.above") if above else 0,
        cache=_cache({**host.cache, **_object(entry, "cache", where)}, prices, f"{where}.cache"),
        tokens=_text(entry, "tokens", where) or host.tokens,
        light=_text(entry, "light", where),
        thinks=entry.get("thinks") is True,
        as_of=_text(entry, "as_of", where) or as_of,
        source=_text(entry, "source", where) or host.source,
    )
    return info, [name, *aliases]


def _prices(entry: Mapping[str, Any], key: str, where: str) -> Prices | None:
    usd = _object(entry, key, where)
    if not usd:
        return None
    place = f"{where}.{key}"
    return Prices(
        _amount(usd, "in", place),
        _amount(usd, "out", place),
        _amount(usd, "write", place) if "write" in usd else None,
        _amount(usd, "read", place) if "read" in usd else None,
    )


def _cache(entry: Mapping[str, Any], prices: Prices | None, where: str) -> CacheRules:
    """Read the rules; the factors follow from the prices."""
    kind: Literal["automatic", "explicit", "none"] = entry.get("kind", "none")
    if kind not in KINDS:
        raise InputError(f"expected one of {', '.join(KINDS)}", field=f"{where}.kind")
    if kind == "none":
        return CacheRules()
    write = read = 1.0
    if prices is not None and prices.input > 0:
        write = (prices.input if prices.cache_write is None else prices.cache_write) / prices.input
        read = (prices.input if prices.cache_read is None else prices.cache_read) / prices.input
    seconds = _amount(entry, "seconds", where) if "seconds" in entry else 300.0
    least = _count(entry, "least", where) if "least" in entry else 1
    return CacheRules(kind, seconds, least, write, read)


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
