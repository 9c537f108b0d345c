from __future__ import annotations

from foldline.cli.wrapping import saved

ONE = {
    "requests": 40, "compactions": 2, "failed_open": 0,
    "tokens_before": 1_000, "tokens_saved": 250,
    "usage": {"input": 100, "output": 9, "cache_read": 850, "cache_write": 50},
}  # fmt: skip


def test_what_was_saved_is_one_sentence_over_all_proxies():
    assert saved([ONE, ONE]) == (
        "Foldline: 80 requests, 4 compactions; 500 of 2,000 tokens of input were not sent (25%); "
        "the provider read 85% of its input from its cache."
    )


def test_what_failed_is_told():
    assert "3 requests went out as they came" in saved([ONE | {"failed_open": 3}])


def test_of_nothing_nothing_is_said():
    assert saved([{}]) == saved([]) == ""
    assert "%" not in saved([{"requests": 1}])
