"""Text that any tokenizer accepts."""

from __future__ import annotations


def without_lone_surrogates(text: str) -> str:
    """
    Replace lone surrogates with U+FFFD and join the pairs, as JSON encoders on the way would.

    Tokenizers take UTF-8, which has no surrogates; Python strings from broken JSON may hold them.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
