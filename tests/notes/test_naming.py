from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.notes.naming import LONGEST_TITLE, file_name, title_of

DAY = datetime(2025, 1, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the Login!", "2025-01-19-fix-the-login-X1.md"),
        ("重构项目 - 第一阶段", "2025-01-19-重构项目-第一阶段-X1.md"),
        ("../../etc/passwd", "2025-01-19-etc-passwd-X1.md"),
        ("🚀🚀", "2025-01-19-X1.md"),
        ("a" * 10_000, f"2025-01-19-{'a' * 80}-X1.md"),
    ],
)
def test_a_file_name_can_be_read_and_leads_nowhere(title: str, name: str) -> None:
    assert file_name(DAY, title, "X1") == name


@pytest.mark.requirement("T6")
@given(st.text(max_size=400))
def test_any_title_is_one_printable_line_and_makes_a_plain_file_name(text: str) -> None:
    try:
        title = title_of(text)
    except InputError:
        return
    assert title
    assert title == " ".join(title.split())
    assert not any(letter < " " or "\ud800" <= letter <= "\udfff" for letter in title)
    name = file_name(DAY, title, "01ARZ3NDEKTSV4RRFFQ69G5FAV")
    assert len(name.encode()) < 255
    assert not set(name) & set('/\\\0:*?"<>|')
    assert name.endswith(".md")
    assert not name.startswith(".")


def test_a_title_is_kept_whole_up_to_its_limit() -> None:
    assert title_of("好" * LONGEST_TITLE) == "好" * LONGEST_TITLE
    with pytest.raises(InputError, match="16,385 characters"):
        title_of("好" * (LONGEST_TITLE + 1))


@pytest.mark.parametrize("empty", ["", " \n\t", "\x00\x1b", "\u202e"])
def test_a_title_says_something(empty: str) -> None:
    with pytest.raises(InputError, match="title"):
        title_of(empty)
