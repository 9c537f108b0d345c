"""Reading questions."""

import pytest
from tests.growth import grows_linearly

from foldline.snapshot.query_terms import line_numbers, near, pointing, questions, terms, wants


def weights(text):
    return {term.text: term.weight for term in pointing(text)}


def test_a_long_task_points_less_than_a_question():
    task = " ".join(f"word{n} of module_{n}" for n in range(200))
    assert max(weights(task).values()) < 0.2 * weights("module_7?")["module_7"]


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("What about order #W2378156?", "#w2378156"),
        ("What about order #W2378156?", "w2378156"),
        ("Who is Mei Patel?", "mei patel"),
        ('Where is "spare pump"?', "spare pump"),
        ("the installed packages", "install"),
        ("数据库连接超时了吗", "连接超时"),
        ("open src/app/main.py now", "src/app/main.py"),
    ],
)
def test_names_phrases_and_words_are_read(text, term):
    assert term in weights(text)


def test_names_weigh_more_than_words_and_stems_less():
    found = weights("Was module_7 uploaded?")
    assert found["module_7"] > found["uploaded"] > found["upload"]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("the last line", "last"),
        ("最后一行", "last"),
        ("which came first?", "first"),
        ("第一个错误", "first"),
        ("did it fail?", "failure"),
        ("how many rows", "count"),
        ("一共多少条", "count"),
        ("anything unusual?", "rare"),
    ],
)
def test_places_are_read(text, want):
    assert want in wants(text)
    assert not wants("what does it cost")


def test_numbers_of_lines_are_read():
    assert line_numbers("lines: line 42, row #7 and 第 9 行") == {42, 7, 9}


def test_of_a_long_text_only_its_questions_are_asked_and_only_its_ends_read():
    text = "It is so. " * 100 + "Where is the key? Thanks."
    assert questions(text).strip() == "Where is the key?"
    assert questions("no mark") == "no mark"
    assert len(near("x" * 1_000_000)) < 7_000
    assert list(terms("")) == []


def test_quotes_around_nothing_are_no_term():
    assert "" not in {term.text for term in terms('what is the last entry with "  " in it?')}


def test_numbers_of_lines_are_found_in_linear_time():
    assert grows_linearly(lambda n: line_numbers("line" + n * " "), int, 500, 4_000)
