"""
Telling "too long" from everything else that a provider may say, and what its real limit is.

A rate limit speaks of tokens and of requests that are too large as well, so it is looked for
first. Then a code, an exception's class or a stop reason decides, then the status 413, then the
words: those that each provider is known to use, and only where the status is one of a bad request.
What an error quotes of the user's text is therefore no overflow when the server itself failed. At
last an answer is one that took more than the window: some servers drop what is too long silently.

Each sentence of a provider is one pattern. In it, LIMIT stands for the number of tokens that the
model takes, REQUESTED for what the request took, and GIVEN and OUTPUT for its two parts: what was
sent, and what was reserved for the answer; … stands for up to 60 characters of one line. The
sentences are those of public documentation, issues and open source of each provider.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

from foldline.errors import InputError
from foldline.models.provider_failure import Failure as Failure
from foldline.models.provider_failure import failure_of as failure_of


@dataclass(frozen=True, slots=True)
class DetectedOverflow:
    """
    A request was too long.

    Args:
        how: What told: the provider whose words they are, "code", "class", "status", "stop",
            "usage" or "detector".
        limit: The real limit in tokens, None when it was not said.
        requested: What the request took, in tokens, with what was reserved for the answer; None
            when it was not said.
        output: How much of that was reserved for the answer, in tokens.
    """

    how: str
    limit: int | None = None
    requested: int | None = None
    output: int = 0

    @property
    def given(self) -> int | None:
        """What system prompt, tools and messages took, in tokens; None when it was not said."""
        return None if self.requested is None else max(0, self.requested - self.output)


Detector: TypeAlias = Callable[[Failure], DetectedOverflow | bool | None]
"""
Decides whether a failure is an overflow, for what the table here does not know.

It is given a `Failure` (``text``, ``code``, ``status`` and what else was said) and returns a
`DetectedOverflow` with the numbers that it knows, or True where it knows none; False or None leave
the decision to the next one, and at last to the table.
"""

CODES: Final = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, DeepSeek, Groq, OpenRouter
        "context_window_exceeded",
        "exceed_context_size_error",  # llama.cpp
        "input_too_long",
        "model_context_window_exceeded",
        "model_max_prompt_tokens_exceeded",  # GitHub Copilot
        "prompt_too_long",
        "request_too_large",  # Anthropic
        "string_above_max_length",  # OpenAI, for one message
    }
)
"""Codes and types of errors that say it by themselves."""

STOPS: Final = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "model_context_window_exceeded",  # Anthropic, Z.ai
        "model_length",  # Mistral
        "overflow",
    }
)
"""Why a model stopped, when the window was full."""

_CLASSES: Final = re.compile(
    r"Context(?:Window|Length|Size)?(?:Exceeded|Overflow)"
    r"|(?:\b|Err)(?:Prompt|Request|Input|Context)?TooLong(?:Error)?\b"
)
"""Exceptions of frameworks and gateways: LangChain, litellm, the wrapped errors of agents."""

_RATE: Final = re.compile(
    r"rate.?limit|tokens? per (?:min|hour|day)|requests? per (?:min|sec|day)|\b[TR]P[MD]\b"
    r"|too many requests|quota|throttl|please wait before|extra usage is required",
    re.IGNORECASE,
)

_BAD_REQUEST: Final = frozenset({None, 200, 400, 413, 422})
"""The statuses with which words count; some gateways send an error with status 200."""

_LEAST: Final = 16
_MOST: Final = 10**9
"""A limit outside of these is no number of tokens."""

_FULL: Final = 0.99
"""An answer without a word, cut by its cap, when the input took this share of the window."""


def detect(failure: Failure, detectors: Iterable[Detector] = ()) -> DetectedOverflow | None:
    """
    Return True if a failure is an overflow.

    Args:
        failure: What the provider said; see `failure_of`.
        detectors: Further ones that are asked first. What none of them knows is decided here.

    Returns:
        The overflow with the numbers that were named, None when it is something else.

    Raises:
        InputError: A detector returned something else.
    """
    for detector in detectors:
        found = detector(failure)
        if isinstance(found, DetectedOverflow):
            return found
        if found is True:
            return DetectedOverflow("detector")
        if found not in (None, False):
            why = f"a detector of overflows returned {found!r:.60}"
            hint = "Return True, False, None or a foldline.models.overflow.DetectedOverflow."
            raise InputError(why, field="detectors", hint=hint)
    if failure.status in (429, 529) or _RATE.search(f"{failure.code} {failure.text}"):
        return None
    found = _detect_by_code(failure)
    if found is None and failure.status in _BAD_REQUEST:
        found = _phrase(failure.text)
    return found or _detect_by_usage(failure)


def overflow_in(
    outcome: Any, window: int | None = None, detectors: Iterable[Detector] = ()
) -> DetectedOverflow | None:
    """
    Return True if an exception or a response says that the request was too long.

    Args:
        outcome: What an SDK raised or returned; see `failure_of`.
        window: The model's window in tokens, to find what was dropped silently.
        detectors: Further ones; see `detect`.
    """
    return detect(failure_of(outcome, window), detectors)


def _detect_by_code(failure: Failure) -> DetectedOverflow | None:
    """Decide by what is named: code, class, stop reason, status."""
    how = ""
    if not CODES.isdisjoint(failure.code.lower().split()):
        how = "code"
    elif _CLASSES.search(failure.type):
        how = "class"
    elif failure.stop.lower() in STOPS:
        how = "stop"
    elif failure.status == 413:
        how = "status"
    if not how:
        return None
    words = _phrase(failure.text) or DetectedOverflow(how)
    return DetectedOverflow(
        how, words.limit or _sane(failure.limit), words.requested, words.output
    )


def _detect_by_usage(failure: Failure) -> DetectedOverflow | None:
    """Decide by the numbers of an answer that looks like any other."""
    usage, window = failure.usage, failure.window
    if usage is None or not window:
        return None
    given = usage.read
    choked = failure.stop.lower() in ("length", "max_tokens") and not usage.output
    if given > window or (choked and given >= _FULL * window):
        return DetectedOverflow("usage", window, given)
    return None


def _phrase(text: str) -> DetectedOverflow | None:
    for provider, pattern in phrases():
        found = pattern.search(text)
        if found:
            texts = {name: text for name, text in found.groupdict().items() if text}
            numbers = {name: int(re.sub(r"\D", "", digits)) for name, digits in texts.items()}
            requested, output = numbers.get("requested"), numbers.get("output", 0)
            if "given" in numbers:
                requested = max(requested or 0, numbers["given"] + output)
            return DetectedOverflow(provider, _sane(numbers.get("limit")), requested, output)
    return None


def _sane(limit: int | None) -> int | None:
    return limit if limit is not None and _LEAST <= limit <= _MOST else None


# --- the sentences -------------------------------------------------------------------------

_NUMBER: Final = r"\d{1,3}(?:[,_.' ]\d{3})+(?!\d)|\d{1,12}"
"""A number, with or without marks between thousands."""

_PLACE: Final = re.compile("LIMIT|REQUESTED|GIVEN|OUTPUT")

_SENTENCES: Final = (
    ("anthropic", r"prompt is too long: REQUESTED tokens > LIMIT"),
    ("anthropic", r"exceed context limit: GIVEN \+ OUTPUT > LIMIT"),
    ("anthropic", r"request exceeds the maximum (?:size|allowed number of bytes)"),
    (
        "openai",  # Azure, DeepSeek, OpenRouter, vLLM, litellm and others say the same.
        (
            r"maximum context length is LIMIT tokens…(?:requested|resulted in)(?: about)?"
            r" REQUESTED tokens(?: \([^)\n]{0,120}?OUTPUT in the (?:completion|output))?"
        ),
    ),
    (
        "vllm",
        (
            r"max_(?:completion_)?tokens'? is too large: OUTPUT\. …LIMIT tokens and your request"
            r" has GIVEN input tokens"
        ),
    ),
    (
        "vllm",
        (
            r"passed GIVEN input tokens and requested OUTPUT output tokens…context length is only"
            r" LIMIT"
        ),
    ),
    ("vllm", r"prompt \(length REQUESTED\) is longer than the maximum model length of LIMIT"),
    ("sglang", r"input \(REQUESTED tokens\) is longer than the model'?s context length \(LIMIT"),
    ("sglang", r"input length \(?REQUESTED(?: tokens)?\)? exceeds …length \(?LIMIT"),
    ("openai", r"input tokens exceed the configured limit of LIMIT tokens… in REQUESTED"),
    ("openai", r"input tokens exceed the configured limit(?: of LIMIT)?"),
    ("openai", r"input exceeds the context window"),
    ("gemini", r"input token count \(?REQUESTED\)? exceeds …\(?LIMIT"),
    ("gemini", r"input token count is REQUESTED but [^\n]{0,40}?up to LIMIT"),
    ("gemini", r"input token count …exceeds"),
    ("bedrock", r"max input tokens: LIMIT, request input token count: REQUESTED"),
    ("bedrock", r"expected maxLength: LIMIT, actual: REQUESTED"),
    ("xai", r"maximum prompt length is LIMIT but the request contains REQUESTED"),
    ("copilot", r"prompt token count of REQUESTED exceeds the limit of LIMIT"),
    ("mistral", r"contains REQUESTED tokens[^\n]{0,80}?too large for model with LIMIT maximum"),
    ("moonshot", r"exceeded model token limit: LIMIT \(requested: REQUESTED"),
    ("moonshot", r"exceeded model token limit(?::? LIMIT)?"),
    ("qwen", r"range of input length should be \[\d+, ?LIMIT"),
    ("cohere", r"cannot exceed LIMIT - received REQUESTED"),
    ("huggingface", r"must be <= LIMIT\. given: GIVEN `inputs` tokens and OUTPUT"),
    ("fireworks", r"prompt is too long: REQUESTED, model maximum context length: LIMIT"),
    ("llama.cpp", r"request \(REQUESTED tokens\) exceeds the available context size \(LIMIT"),
    ("llama.cpp", r"exceeds? the available context size"),
    ("lm studio", r"loaded with context length of only LIMIT"),
    ("ollama", r"prompt too long; exceeded (?:max )?context length"),
    ("minimax", r"context window exceeds limit"),
    ("z.ai", r"prompt exceeds max length|tokens in request more than max tokens"),
    ("any", r"maximum (?:context|prompt) length (?:is|of) LIMIT"),
    ("any", r"(?:prompt|input|request) is too long(?! to (?:display|show))"),
    ("any", r"maximum (?:context|prompt) length\b"),
    ("any", r"exceeds? (?:the )?(?:model'?s )?max(?:imum)? (?:context|prompt|input)"),
    ("any", r"context[ _](?:length|window|size)[ _](?:was |is |has been )?exceeded"),
    ("any", r"exceed(?:s|ed)? (?:(?:the|its|this) )?(?:model'?s )?context (?:window|length|size)"),
    ("any", r"exceed(?:s|ed)? (?:(?:the|its|this) )?(?:model'?s )?context limit"),
    ("any", r"token limit exceeded|too many input tokens|longer than the model'?s context"),
    ("any", r"reduce the length of the (?:messages|prompt|input)"),
)


@cache
def phrases() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return whose words they are and the patterns; made once, when the first is looked for."""

    def compiled(sentence: str) -> re.Pattern[str]:
        named = _PLACE.sub(lambda at: f"(?P<{at[0].lower()}>{_NUMBER})", sentence)
        return re.compile(named.replace("…", r"[^\n]{0,60}?"), re.IGNORECASE)

    return tuple((provider, compiled(sentence)) for provider, sentence in _SENTENCES)
