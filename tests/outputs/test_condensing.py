"""Recognising outputs by what stands in them, however hostile."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from foldline.outputs.condensing import condense
from foldline.values.part_text import text_lines

LOG = "\n".join(f"2025-01-01 10:{n // 60:02}:{n % 60:02} INFO served {n}" for n in range(200))
ROWS = [{"id": n, "name": f"name {n}"} for n in range(60)]
SAMPLES = {
    "json": json.dumps(ROWS),
    "log": LOG,
    "report": "== test session starts ==\n"
    + "tests/a.py::b PASSED\n" * 60
    + "== 60 passed in 1s ==",
    "diff": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + "-old line\n+new line\n" * 60,
    "table": "id,name,city\n" + "".join(f"{n},name {n},Oslo\n" for n in range(90)),
    "search": "".join(f"src/a.py:{n * 3}:  call({n})\n" for n in range(60)),
    "listing": "".join(f"./src/app/file_{n}.py\n" for n in range(60)),
    "commits": "".join(f"commit {n:040x}\nAuthor: me\n\n    Title {n}\n\n" for n in range(30)),
    "plain": "".join(
        f"{chr(97 + n % 26) * (n % 9 + 2)} {n * 7919 % 613} went on\n" for n in range(9)
    )
    + "Prose that stands for itself and for nothing else in this world of tests. " * 20,
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_kind_is_told_by_the_content(kind):
    assert condense(SAMPLES[kind]).kind == kind


def test_words_around_json_stay():
    made = condense(f"HTTP/1.1 200 OK\nX-Id: 7\n\n{SAMPLES['json']}\nbye")
    assert made.kind == "json"
    assert made.lines[:2] == ("HTTP/1.1 200 OK", "X-Id: 7")
    assert made.lines[-1] == "bye"
    assert any(made.verbatim(n) == json.dumps(ROWS[9]) for n in range(len(made.lines)))


def test_a_short_or_ordinary_text_is_its_lines():
    for text in ("", "one\n\n  two", SAMPLES["plain"], "{not json}", "[INFO] started\n" * 3):
        assert condense(text).lines == tuple(text_lines(text))


def test_numbers_of_a_reader_go_but_a_first_column_stays():
    counted = "\n".join(f"{n}\tline of code {n} = {n}" for n in range(1, 60))
    table = "account\tholder\n" + "\n".join(f"{1000 + n}\tname {n}" for n in range(60))
    assert condense(counted).lines[4] == "line of code 5 = 5"
    assert condense(table).lines[5] == "1004\tname 4"


HOSTILE = {
    "braces": "{",
    "brackets": "[",
    "quotes": '"',
    "objects": '{"a":',
    "one line": "x",
    "errors": "error ",
    "error lines": "error 0\n",
    "spaces": " ",
    "line feeds": "\n",
    "tags": "<a ",
    "numbers": "1",
    "colons": "a:1:",
    "dashes": "- ",
    "equals": "= ",
    "commas": ",",
    "Chinese": "错误",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_time_is_in_proportion_to_the_text(piece):
    assert grows_linearly(condense, repeated(piece), 60_000, 1_000_000)


@given(
    st.lists(st.sampled_from([*"{}[],:|\n\t<>-@+", '"a"', "1", "error", "x y", "@@ -1 +1 @@\n"]))
)
def test_whatever_comes_lines_are_single_and_worth_is_bounded(pieces):
    made = condense("".join(pieces) * 40)
    assert all("\n" not in line for line in made.lines)
    assert all(0 <= place < len(made.lines) for place in (*made.worth, *made.heads))
    assert all(0 <= value <= 1 for value in made.worth.values())
    assert list(made.heads) == sorted(made.heads)


@pytest.mark.parametrize(
    "text",
    [
        ("|        " * 12 + "end\n") * 400,
        "<div><p><a" + " id=x" * 100_000,
        "= " + "passed " * 430 + "=" * 2_900 + "x",
        "\n" * 1_000_000,
    ],
    ids=["empty cells", "a tag without end", "passed and passed", "line feeds"],
)
def test_no_text_makes_a_pattern_go_back_and_forth(text):
    start = time.process_time()
    condense(text)
    assert time.process_time() - start < 3


def test_a_row_of_json_lines_is_quoted_as_it_stands_with_words_around():
    rows = [f'{{"id": {n}, "name": "item_{n}", "v": "x y {n * 7}"}}' for n in range(2_000)]
    made = condense("\n".join(["Output of the query:", *rows, "Process exited with code 0"]))
    place = next(place for place, line in enumerate(made.lines) if "item_1234" in line)
    assert made.verbatim(place) == rows[1234]
