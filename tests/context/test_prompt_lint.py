from __future__ import annotations

import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context import lint
from foldline.context.prompt_lint import (
    CONCRETE,
    CONDITION,
    EXAMPLES,
    HARD_LITERAL,
    OPPOSITES,
    SENTENCE,
    VAGUE,
    Rule,
)
from foldline.errors import InputError


@pytest.mark.requirement("E1.3")
def test_every_rule_has_a_reason_and_an_alternative():
    assert set(EXAMPLES) == set(get_args(Rule))
    assert all(len(why) > 20 and len(instead) > 20 for why, instead in EXAMPLES.values())


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("Use app.py and 1.5 seconds.", 1),
        ("一句。两句!三句?", 3),
        ("", 0),
    ],
)
def test_sentences_are_cut_where_they_end(text: str, count: int):
    assert len(SENTENCE.findall(text)) == count


def test_ordinary_words_are_not_findings():
    for text in ("Verify the difference", "as soon as possible", "the etching", "10.5 percent"):
        assert not CONDITION.search(text)
        assert not VAGUE.search(text)
        assert not HARD_LITERAL.search(text)
    assert CONCRETE.search("for example a list")


def test_the_sides_of_a_pair_are_never_the_same():
    for left, right in OPPOSITES:
        assert left.pattern != right.pattern


GOOD_EN = """# Role
You review Python changes for a team that ships daily.

# Rules
Follow the style of the file that is changed.
Name the file and the line for every claim, for example app.py:12.
Say so where you did not look.

# Output
Answer with a list of findings, the worst first; an empty list if there are none.
"""

GOOD_ZH = """你是数据平台团队的代码审查助手。
每条结论都要注明文件和行号,例如 app.py:12。
没有看过的文件要说明没有看。
按严重程度列出发现的问题;没有问题就返回空列表。
"""

HARD_CODED = "You answer tickets. Write one line.\n" + "\n".join(
    f"If the customer is from region {n}, use template {n}." for n in range(8)
)

TOO_VAGUE = "You are an assistant. Be helpful. Give high-quality answers. Do your best."


def rules(prompt: str) -> set[str]:
    return {problem.rule for problem in lint(prompt)}


@pytest.mark.requirement("E1.3")
@pytest.mark.parametrize("prompt", [GOOD_EN, GOOD_ZH])
def test_a_good_prompt_is_left_alone(prompt: str):
    assert lint(prompt) == ()


@pytest.mark.requirement("E1.3")
def test_the_two_extremes_are_distinguished():
    assert "conditions" in rules(HARD_CODED)
    assert "vague" not in rules(HARD_CODED)
    assert "vague" in rules(TOO_VAGUE)
    assert "conditions" not in rules(TOO_VAGUE)
    assert len([p for p in lint(TOO_VAGUE) if p.rule == "vague"]) == 3


@pytest.mark.requirement("E1.3")
@pytest.mark.parametrize(
    ("prompt", "rule"),
    [
        ("You deploy. Report it. Use https://prod.example.com/api.", "literal"),
        ("You deploy. Report it. The key lies in /home/user/.ssh/key.", "literal"),
        ("你负责发布。给出报告。期限是2025年3月。", "literal"),
        ("You answer. NEVER lie. ALWAYS cite. You MUST look. IMPORTANT: be brief.", "shouting"),
        ("Answer. Cite the source of each claim. Look. Cite the source of each claim!", "twice"),
        ("你是助手。回答要注明出处文件。回答问题。回答要注明出处文件!", "twice"),
        ("Never write to the database directly. You must write to the database directly.",
         "contradiction"),
        ("You answer. Always answer in one sentence. Explain every step in detail.",
         "contradiction"),
        ("你是助手。禁止修改数据库配置。必须修改数据库配置后再提交。", "contradiction"),
        ("你是助手。回答必须简短。请详细说明每一步的原理。", "contradiction"),
        ("Answer only in English. Answer only in Chinese.", "contradiction"),
        ("Sort the numbers by size, then by name.", "no role"),
        ("You are a pirate.", "no output"),
        ("You are a clerk. Answer. " + "The counter opens at nine and closes at five. " * 60,
         "no sections"),
    ],
)  # fmt: skip
def test_every_rule_finds_its_example(prompt: str, rule: str):
    assert rule in rules(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "You answer. Answer in one sentence; in detail only if the user asks why.",
        "You answer. Never write to the log. You must write to the report.",
        "You answer. Use tabs in Makefiles. Do not use tabs in Python files.",
        "You answer. Be brief. If the user asks why, explain it in detail.",
    ],
)
def test_compatible_rules_are_not_a_contradiction(prompt: str):
    assert "contradiction" not in rules(prompt)


def test_a_problem_names_its_line_the_other_line_and_what_to_write():
    prompt = "You answer.\nBe brief.\n\nExplain everything in detail."
    (problem,) = [p for p in lint(prompt) if p.rule == "contradiction"]
    assert (problem.line, problem.other) == (4, 2)
    assert problem.quote == "Explain everything in detail."
    assert problem.why
    assert problem.instead


@pytest.mark.parametrize("prompt", ["", " \n", None, "x" * 400_001])
def test_an_invalid_prompt_is_refused(prompt):
    with pytest.raises(InputError):
        lint(prompt)


@given(st.text(min_size=1, max_size=400).filter(str.strip))
def test_no_text_breaks_it(prompt: str):
    for problem in lint(prompt):
        assert 1 <= problem.line <= prompt.count("\n") + 1


@pytest.mark.parametrize("piece", ["if ", "a.b", "-", "如果", "当", "! ", "x@", "one two three. "])
def test_a_giant_prompt_takes_seconds_at_most(piece: str):
    began = time.monotonic()
    lint(piece * (60_000 // len(piece)))
    assert time.monotonic() - began < 20
