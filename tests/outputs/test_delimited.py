"""Tables of plain text."""

import pytest

from foldline.outputs.delimited import delimiter, table

NAMES = ("account", "holder", "tier")


def lines(mark):
    rows = ((str(1000 + n), f"holder {n}", ("gold", "basic")[n % 2]) for n in range(30))
    return [mark.join(row) for row in (NAMES, *rows)]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_mark_between_columns_is_found(mark):
    assert delimiter(lines(mark)) == mark


def test_the_names_of_the_columns_stay_above_all_rows():
    made = table(lines(","), ",")
    assert made.worth[0] == 1.0
    assert made.head(17) == 0
    assert made.lines[17] == "1016,holder 16,gold"


def test_values_of_columns_that_have_few_are_counted():
    assert table(lines(","), ",").lines[-1] == "[30 rows; tier: gold 15, basic 15]"


def test_quoted_commas_do_not_hide_a_table():
    quoted = lines(",")
    quoted[4] = '1003,"Li, Ann",gold'
    assert delimiter(quoted) == ","
    assert table(quoted, ",").lines[4] == '1003,"Li, Ann",gold'


@pytest.mark.parametrize(
    "text", ["one, two, three\n" + "a sentence\n" * 9, "1,2,3\n" * 9, "short,a,b\n1,2,3"]
)
def test_other_texts_are_no_tables(text):
    assert delimiter(text.strip().split("\n")) == ""
