"""Creating clients from the name of a model, arguments and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from foldline.errors import InputError
from foldline.models.anthropic import AnthropicProtocol
from foldline.models.catalogue import Catalogue, choose_summarizer
from foldline.models.client import ATTEMPTS, SECONDS, Client
from foldline.models.completion import ProviderProtocol
from foldline.models.endpoint import make_endpoint
from foldline.models.info import Provider
from foldline.models.openai import OpenAIChatProtocol, OpenAIResponsesProtocol
from foldline.models.sending import Sender
from foldline.values.tokens import TextCounter

PROTOCOLS: Final[dict[str, type[ProviderProtocol]]] = {
    "anthropic": AnthropicProtocol,
    "openai-chat": OpenAIChatProtocol,
    "openai-responses": OpenAIResponsesProtocol,
}

PREFIXES: Final = {
    "anthropic": ("anthropic", "anthropic"),
    "openai": ("openai", "openai-chat"),
    "openai-chat": ("openai", "openai-chat"),
    "openai-responses": ("openai", "openai-responses"),
}
"""Prefixes before the colon of a name: the provider and the protocol of each."""


def model(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = SECONDS,
    attempts: int = ATTEMPTS,
    thinking: int | None = None,
    counter: TextCounter | None = None,
    catalogue: Catalogue | None = None,
) -> Client:
    """
    Create the client of a model; nothing is sent yet.

    Args:
        name: With its protocol, "anthropic:claude-haiku-4-5", "openai:gpt-5-mini" (chat
            completions) or "openai-responses:gpt-5-mini"; with a provider of the catalogue,
            "deepseek:deepseek-v4-pro"; or alone, if the catalogue knows its provider.
        base_url: The address, such as "http://localhost:11434/v1"; default the environment
            (OPENAI_BASE_URL, ANTHROPIC_BASE_URL …), else the provider's own.
        api_key: The key; default the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY …). Local
            servers may need none.
        headers: Sent with every request, as gateways require; treated as secret like the key.
        timeout: Seconds for a completion, retries included.
        attempts: Maximum number of requests for a completion.
        thinking: Tokens for reasoning, besides the answer to an `Ask`; default 4,096 for models
            that always think, else none.
        counter: Counts a prompt, to keep the answer within the window; default an estimate.
        catalogue: The known models; default the result of `Catalogue.load`.

    Raises:
        InputError: The provider is unknown, the address is invalid, or there is no key.
        BudgetError: A number is out of range.
    """
    known = catalogue or Catalogue.load()
    provider, protocol, bare = _find_provider(name, known, guessed=base_url is not None)
    address = base_url or os.environ.get(provider.url, "") or provider.base_url
    key = os.environ.get(provider.key, "") if api_key is None else api_key
    where = make_endpoint(address, key, headers, variable=provider.key)
    sender = Sender(PROTOCOLS[protocol](), where)
    return Client(
        known.full_name(bare),
        known.find(bare),
        sender,
        timeout=timeout,
        attempts=attempts,
        thinking=thinking,
        counter=counter,
    )


def _find_provider(name: str, known: Catalogue, *, guessed: bool) -> tuple[Provider, str, str]:
    """Return the provider of a model, the protocol, and the name without them."""
    bare = name.strip()
    before, _, after = bare.partition(":")
    if after and before in PREFIXES:
        whose, protocol = PREFIXES[before]
        return known.providers[whose], protocol, after
    if after and before in known.providers:
        return known.providers[before], known.providers[before].protocol, after
    provider = known.providers.get(known.find(bare).provider)
    if provider is not None:
        chats = guessed and provider.protocol != "anthropic"
        return provider, "openai-chat" if chats else provider.protocol, bare
    openai = known.providers["openai"]
    if bare and (guessed or os.environ.get(openai.url)):
        # A custom address: most such servers implement chat completions.
        return openai, "openai-chat", bare
    hint = 'Name its provider, as in "openai:NAME" or "anthropic:NAME", or give base_url.'
    why = f"the provider of the model {bare[:100]!r} is not known"
    raise InputError(why, field="model", hint=hint)


def summarizer(
    which: str, *, of: str = "", catalogue: Catalogue | None = None, **options: Any
) -> Client:
    """
    Create the client of the summarizer; its ``note`` is the reason of the choice.

    Args:
        which: "same", "light", or the name of a model as in `foldline.models.model`.
        of: The model whose history it is; needed for "same" and "light".
        catalogue: The known models; default the result of `Catalogue.load`.
        options: Further arguments of `foldline.models.model`.

    Raises:
        InputError: The model cannot be reached; see `choose_summarizer` and `model`.
    """
    known = catalogue or Catalogue.load()
    choice = choose_summarizer(which, of, known)
    client = model(choice.name, catalogue=known, **options)
    client.note = choice.reason
    return client
