"""What is asked, in words and places."""

from hashlib import sha256

import pytest
from tests.neutral import A, U

from foldline.outputs.condensing import condense
from foldline.snapshot.query import Query, strongest

LINES = [
    f"2025-01-01 10:{n // 60:02}:{n % 60:02} INFO pkg-{n} installed in /opt/{n}"
    for n in range(300)
]
LINES[120] = "2025-01-01 10:02:00 INFO spare pump of Ingrid Solheim switched on"
LINES[200] = "2025-01-01 10:03:20 ERROR could not reach the mirror"
LINES[250] = "2025-01-01 10:04:10 信息 备用机房已切换"


def best(question, lines=LINES):
    made = condense("\n".join(lines))
    values = Query.in_words(question).values(made, 0.03 * len(made.lowered))
    return {made.lines[place] for place, value in values.items() if value >= 0.5}


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("When was pkg-77 installed?", 77),
        ("when was PKG-77 installed", 77),
        ("What did Ingrid Solheim switch on?", 120),
        ("Did anything happen to the spare pump?", 120),
        ("What stands in line 42?", 41),
        ("第 42 行是什么?", 41),
        ("Which package was installed last?", 299),
        ("What is the last line?", 299),
        ("日志的最后一行是什么?", 299),
        ("What came first?", 0),
        ("What was the first error?", 200),
        ("第一个错误是什么?", 200),
        ("Is anything unusual in it?", 120),
        ("哪一行提到备用机房?", 250),
        ('Where does it say "reach the mirror"?', 200),
    ],
)
def test_the_line_that_answers_is_found(question, line):
    assert LINES[line] in best(question)


def test_words_of_a_question_that_stand_everywhere_point_at_nothing():
    assert best("Was INFO installed in opt?") == set()
    assert best("") == set()


def test_a_number_within_another_is_not_it():
    assert not any("pkg-77 " in line for line in best("Show me pkg-7"))


def test_an_abbreviated_hash_finds_the_whole_one():
    lines = [f"commit {sha256(bytes([n])).hexdigest()[:40]}" for n in range(60)]
    assert lines[30] in best(f"What did {lines[30][7:17]} do?", lines)


def test_a_question_at_the_end_of_a_long_task_points_as_a_question_does():
    task = " ".join(f"word{n} of module_{n}." for n in range(200))
    terms = {term.text: term.weight for term in Query.in_words(f"{task} Who is Kvothe77?").terms}
    assert terms["kvothe77"] == max(terms.values()) == 3.0


def test_the_first_and_the_latest_message_of_the_user_are_questions():
    said = (U("Look for alpha_1"), A("ok"), U("and beta_2"), A("ok"), U("and gamma_3"))
    found = {term.text for term in Query.of(said, "delta_4").terms}
    assert {"alpha_1", "gamma_3", "delta_4"} <= found
    assert "beta_2" not in found


def test_lines_beside_the_one_that_is_asked_for_come_along():
    made = condense("\n".join(LINES))
    values = Query.in_words("spare pump").values(made, 1_000)
    assert values[120] > values[121] > 0
    assert values[121] == values[119]
    assert strongest(values)[0] == 120


@pytest.mark.parametrize(
    "text", ["(" * 5_000, "a-b" * 3_000, "?" * 9_000, "\n" * 500, "数" * 9_000]
)
def test_any_text_may_be_a_question(text):
    assert len(Query.in_words(text).terms) <= 48
