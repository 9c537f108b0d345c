"""
What providers say when a request is too long: one pattern for each of their sentences.

In a pattern, LIMIT stands for the number of tokens that the model takes, ASKED for what the
request took, and GIVEN and OUTPUT for its two parts: what was sent, and what was reserved for the
answer. The sentences are those of public documentation, issues and open source of each provider.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

NUMBER: Final = r"\d{1,3}(?:[,_.' ]\d{3})+(?!\d)|\d{1,12}"
"""A number, with or without marks between thousands."""

PLACES: Final = ("LIMIT", "ASKED", "GIVEN", "OUTPUT")

_SENTENCES: Final = (
    ("anthropic", r"prompt is too long: ASKED tokens > LIMIT"),
    ("anthropic", r"exceed context limit: GIVEN \+ OUTPUT > LIMIT"),
    ("anthropic", r"request exceeds the maximum (?:size|allowed number of bytes)"),
    (
        "openai",  # Azure, DeepSeek, OpenRouter, vLLM, litellm and others say the same.
        (
            r"maximum context length is LIMIT tokens[^\n]{0,60}?(?:requested|resulted in)"
            r"(?: about)? ASKED tokens(?: \([^)\n]{0,120}?OUTPUT in the (?:completion|output))?"
        ),
    ),
    (
        "vllm",
        (
            r"max_(?:completion_)?tokens'? is too large: OUTPUT\. [^\n]{0,60}?LIMIT tokens and"
            r" your request has GIVEN input tokens"
        ),
    ),
    (
        "vllm",
        (
            r"passed GIVEN input tokens and requested OUTPUT output tokens[^\n]{0,60}?"
            r"context length is only LIMIT"
        ),
    ),
    ("vllm", r"prompt \(length ASKED\) is longer than the maximum model length of LIMIT"),
    ("sglang", r"input \(ASKED tokens\) is longer than the model'?s context length \(LIMIT"),
    ("sglang", r"input length \(?ASKED(?: tokens)?\)? exceeds [^\n]{0,60}?length \(?LIMIT"),
    ("openai", r"input tokens exceed the configured limit of LIMIT tokens[^\n]{0,60}? in ASKED"),
    ("openai", r"input tokens exceed the configured limit(?: of LIMIT)?"),
    ("openai", r"input exceeds the context window"),
    ("gemini", r"input token count \(?ASKED\)? exceeds [^\n]{0,60}?\(?LIMIT"),
    ("gemini", r"input token count is ASKED but [^\n]{0,40}?up to LIMIT"),
    ("gemini", r"input token count [^\n]{0,60}?exceeds"),
    ("bedrock", r"max input tokens: LIMIT, request input token count: ASKED"),
    ("bedrock", r"expected maxLength: LIMIT, actual: ASKED"),
    ("xai", r"maximum prompt length is LIMIT but the request contains ASKED"),
    ("copilot", r"prompt token count of ASKED exceeds the limit of LIMIT"),
    ("mistral", r"contains ASKED tokens[^\n]{0,80}?too large for model with LIMIT maximum"),
    ("moonshot", r"exceeded model token limit: LIMIT \(requested: ASKED"),
    ("moonshot", r"exceeded model token limit(?::? LIMIT)?"),
    ("qwen", r"range of input length should be \[\d+, ?LIMIT"),
    ("cohere", r"cannot exceed LIMIT - received ASKED"),
    ("huggingface", r"must be <= LIMIT\. given: GIVEN `inputs` tokens and OUTPUT"),
    ("fireworks", r"prompt is too long: ASKED, model maximum context length: LIMIT"),
    ("llama.cpp", r"request \(ASKED tokens\) exceeds the available context size \(LIMIT"),
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
    (
        "any",
        r"exceed(?:s|ed)? (?:the |its |this )?(?:model'?s )?context (?:window|length|size|limit)",
    ),
    ("any", r"token limit exceeded|too many input tokens|longer than the model'?s context"),
    ("any", r"reduce the length of the (?:messages|prompt|input)"),
)


def _compiled(sentence: str) -> re.Pattern[str]:
    for place in PLACES:
        sentence = sentence.replace(place, f"(?P<{place.lower()}>{NUMBER})")
    return re.compile(sentence, re.IGNORECASE)


@cache
def phrases() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return whose words they are and the patterns; made once, when the first is looked for."""
    return tuple((provider, _compiled(sentence)) for provider, sentence in _SENTENCES)
