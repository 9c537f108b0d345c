"""The endpoint of a model: its address and its key."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit

from foldline.errors import InputError
from foldline.frozen import field, frozen

PRIVATE_SUFFIXES: Final = (".local", ".localhost", ".internal", ".lan")
"""Suffixes of host names that are not in the public network."""

SHORTEST_KEY: Final = 16
"""Length below which a key is a placeholder and not redacted, in characters."""

SECRET_WORDS: Final = ("key", "token", "secret", "password", "sig")
"""Words in the names of query parameters that hold a key."""


class Secret:
    """
    A string that only `reveal` returns.

    Args:
        value: The key; "" for none.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"Secret({'***' if self._value else ''})"

    def __reduce__(self) -> str:
        raise TypeError("A key cannot be pickled.")

    def reveal(self) -> str:
        """Return the key itself."""
        return self._value


def reveal_all(secrets: Iterable[Secret]) -> tuple[str, ...]:
    """Return the keys themselves, for redaction."""
    return tuple(secret.reveal() for secret in secrets)


@frozen
class Endpoint:
    """
    An address and its credentials.

    ``base_url`` has neither user nor query; the query is in ``query``.
    """

    base_url: str
    key: Secret = field(default_factory=Secret)
    headers: Mapping[str, Secret] = field(default_factory=dict)
    query: str = ""

    def url(self, path: str) -> str:
        """Return the URL of a path; a version in both, such as ``/v1``, is not repeated."""
        base = self.base_url
        version = path.split("/")[1] if path.count("/") > 1 else ""
        if version.startswith("v") and base.endswith(f"/{version}"):
            path = path[len(version) + 1 :]
        return f"{base}{path}" + (f"?{self.query}" if self.query else "")

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Everything that must not appear in an error."""
        return (self.key, *self.headers.values())

    def keys_to_redact(self) -> tuple[str, ...]:
        """Return the keys to redact from answers; placeholders like "ollama" are not keys."""
        secret = (*SECRET_WORDS, "auth")
        named = [h for n, h in self.headers.items() if any(word in n.lower() for word in secret)]
        keys = [word for one in (self.key, *named) for word in one.reveal().split()]
        return tuple(word for word in keys if len(word) >= SHORTEST_KEY)


def make_endpoint(
    base_url: str, key: str = "", headers: Mapping[str, str] | None = None, *, variable: str = ""
) -> Endpoint:
    """
    Validate an address and its credentials.

    Args:
        base_url: An address that begins with http:// or https://.
        key: The key; "" for none, which only a local server allows.
        headers: Sent with every request, and treated as secret.
        variable: The environment variable that should hold the key.

    Raises:
        InputError: The address is invalid, or a key is missing or cannot be sent.
    """
    address = split_url(base_url)
    if address is None:
        hint = "Give one such as https://api.openai.com/v1."
        raise InputError("the base URL is not a URL", field="base_url", hint=hint)
    if address.username is not None or address.password is not None:
        hint = "Give the key as api_key instead."
        raise InputError("the base URL holds a user or a password", field="base_url", hint=hint)
    hidden = {name: Secret(_sendable(value)) for name, value in (headers or {}).items()}
    opens = {"authorization", "x-api-key", "api-key"} & {name.lower() for name in hidden}
    if not key and not opens and not is_private_host(address.hostname or ""):
        hint = f"Set {variable}, or give api_key." if variable else "Give api_key."
        raise InputError(f"there is no key for {address.hostname}", field="api_key", hint=hint)
    if any(word in name.lower() for name, _ in parse_qsl(address.query) for word in SECRET_WORDS):
        # URLs are written to logs.
        hint = "Give it as api_key, or in headers."
        raise InputError("the base URL holds a key", field="base_url", hint=hint)
    plain = f"{address.scheme}://{address.netloc}{address.path.rstrip('/')}"
    return Endpoint(plain, Secret(_sendable(key)), hidden, address.query)


def is_private_host(host: str) -> bool:
    """Return True if a host is on this machine or in a private network."""
    try:
        number = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        name = host.lower().rstrip(".")
        return bool(name) and ("." not in name or name.endswith(PRIVATE_SUFFIXES))
    return number.is_private or number.is_loopback or number.is_link_local


def split_url(url: str) -> SplitResult | None:
    """Split an address that begins with http:// or https://; None if it is invalid."""
    try:
        address = urlsplit(url.strip())
        fits = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        return None
    return address if fits else None


def _sendable(value: str) -> str:
    """Reject a value that no header may hold: it could break the request or smuggle another."""
    text = value.strip()
    if not all(" " <= char <= "~" for char in text):
        hint = "Check it for line feeds and quotation marks from copying."
        raise InputError("a key holds characters that cannot be sent", field="api_key", hint=hint)
    return text
