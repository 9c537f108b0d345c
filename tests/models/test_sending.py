from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.models.completion import Delta
from foldline.models.sending import SecretFilter

KEY = "sk-aab-aabaab-0001"


@given(
    st.lists(st.sampled_from([KEY, KEY[:-1], "sk-", "a", "aab-", " ", "汉"]), max_size=8),
    st.integers(1, 5),
)
def test_pieces_of_any_size_join_to_the_text_without_the_key(parts: list[str], size: int) -> None:
    text = "".join(parts)
    pieces = [Delta("text", text[at : at + size]) for at in range(0, len(text), size)]
    veil = SecretFilter([KEY])
    shown = "".join(d.text for d in [*veil.filter(pieces), *veil.flush()])
    assert KEY not in shown
    assert shown == text.replace(KEY, "[redacted]")


def test_pieces_of_one_kind_do_not_wait_for_another_kind() -> None:
    veil = SecretFilter([KEY])
    pieces = [Delta("text", "see sk-"), Delta("call", "{", 0, "run"), Delta("call", "}", 0)]
    shown = [*veil.filter(pieces), *veil.flush()]
    assert [(d.kind, d.text, d.name) for d in shown] == [
        ("text", "see ", ""),
        ("text", "sk-", ""),
        ("call", "{", "run"),
        ("call", "}", ""),
    ]


def test_without_a_key_pieces_pass_unchanged() -> None:
    piece = Delta("text", "")
    assert list(SecretFilter([]).filter([piece])) == [piece]
