"""Logs."""

import pytest

from foldline.outputs.repetition import repetition

ODD = "operator switched to the spare pump by hand"


def log(count=300):
    lines = [
        f"2025-01-01 10:{n // 60 % 60:02}:{n % 60:02} INFO served {n * 37} in {n % 90} ms"
        for n in range(count)
    ]
    lines[count // 2] = f"2025-01-01 10:00:00 INFO {ODD}"
    return lines


def test_a_line_unlike_the_others_is_worth_keeping():
    made = repetition(log())
    strangest = max((place for place in made.worth), key=made.worth.__getitem__)
    assert ODD in made.lines[strangest]


def test_what_is_said_again_and_again_is_counted():
    made = repetition(log())
    assert made.notes == 1
    assert made.lines[-1].startswith("[299 lines like: 2025-01-01 10:00:00 INFO served 0 in 0 ms")


def test_chinese_lines_without_spaces_follow_templates_too():
    lines = [f"[信息] 用户{n * 7919}登录成功,来源10.0.0.{n % 250}" for n in range(200)]
    lines[77] = "[信息] 运维手动切换到备用机房"
    made = repetition(lines)
    assert made.worth[77] >= 0.45


@pytest.mark.parametrize(
    "lines",
    [[], ["one", "two"], [f"{'abcdefghijkl'[n % 12] * (n + 3)} stands alone" for n in range(8)]],
)
def test_few_lines_are_no_log(lines):
    assert repetition(lines) is None


def test_prose_is_no_log():
    words = ("amber", "brook", "cedar", "delta", "ember", "frost", "grove", "haven", "inlet")
    assert repetition([f"{a * 2} {b * 3}{a}" for a in words for b in words[:3]]) is None
