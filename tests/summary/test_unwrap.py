import pytest

from foldline.summary.cleanup import is_bare, unwrap
from foldline.summary.templates import TEMPLATES

NINE = TEMPLATES["nine_sections"]
CHINESE = NINE.chinese


@pytest.mark.requirement("F37", "K23")
@pytest.mark.parametrize(
    ("answer", "account"),
    [
        ("<analysis>\nthought\n</analysis>\n<summary>\nS\n</summary>", "S"),
        (
            "<analysis>I will write <summary> and </summary>.</analysis>\n\n<summary>S</summary>",
            "S",
        ),
        ("<analysis>It ends with </analysis> later.\n</analysis>\n<summary>S</summary>", "S"),
        ("Here it is:\n<summary>\nS\n</summary>", "S"),
        ("```xml\n<analysis>a</analysis>\n<summary>\nS\n</summary>\n```", "S"),
        (
            "<summary>\nThe tag </summary> was quoted.\n</summary>",
            "The tag </summary> was quoted.",
        ),
        ("<summary>\nMentions <analysis> here.\n</summary>", "Mentions <analysis> here."),
        ("<summary>\n<analysis> opens a line.\n</summary>", "<analysis> opens a line."),
        ("<analysis>a</analysis>\nS without a block", "S without a block"),
        ("<analysis>a</analysis> S on the same line", "S on the same line"),
        ("S alone", "S alone"),
        ("In prose, <analysis> is quoted.", "In prose, <analysis> is quoted."),
        ("<analysis>\nnever closed\n<summary>\nS\n</summary>", "S"),
    ],
)
def test_the_account_is_found_and_quoted_tags_survive(answer, account):
    assert unwrap(answer, NINE) == account


@pytest.mark.requirement("F37", "K23", "F43")
@pytest.mark.parametrize(
    "answer",
    [
        "<analysis>\nnever closed",
        "<analysis>\nnever closed\n<summary>\nS cut off",
        "<analysis>\nquotes\n<summary> and\n<summary>\nS\n</summary>",
        "<analysis>a</analysis>\n<summary>\nS cut off",
        "</summary>\n<summary>\nS cut off",
    ],
)
def test_a_block_that_is_not_closed_is_a_failure(answer):
    with pytest.raises(ValueError, match="is not closed"):
        unwrap(answer, NINE)


@pytest.mark.requirement("K23")
@pytest.mark.parametrize(
    "answer",
    [
        "<分析>\n想法\n</分析>\n<摘要>\nS\n</摘要>",
        "<analysis>a</analysis>\n<summary>S</summary>",
        "<分析>会写 <摘要>。</分析>\n<摘要>S</摘要>",
    ],
)
def test_chinese_tags_and_english_ones_are_both_read(answer):
    assert unwrap(answer, CHINESE) == "S"


def test_a_giant_answer_of_open_tags_is_read_in_time():
    with pytest.raises(ValueError, match="is not closed"):
        unwrap("<analysis>\n" + "<summary>\n" * 20_000, NINE)


@pytest.mark.parametrize(
    ("account", "bare"),
    [
        ("<overall_goal>\n</overall_goal>", True),
        ("1.\n2.\n- \n**", True),
        ("## Files\n## Plan", True),
        ("<overall_goal>\nx\n</overall_goal>", False),
        ("无", False),
    ],
)
def test_tags_and_headings_alone_are_bare(account, bare):
    assert is_bare(account) is bare
