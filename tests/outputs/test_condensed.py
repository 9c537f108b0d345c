"""Lines of an output, and where they stand."""

from foldline.outputs.condensed import Condensed

MADE = Condensed(
    "json",
    ("Head", "a B", "İ c", "other", "d"),
    heads=(0, 3),
    spans={1: (2, 18)},
    source='  {\n "a": "b, c"\n}  ',
)


def test_a_line_is_found_by_where_a_word_stands():
    for number, word in enumerate(("head", "b", "c", "other", "d")):
        assert MADE.at(MADE.lowered.index(word, 0 if number < 4 else -1)) == number


def test_a_line_belongs_to_the_head_above_it():
    assert [MADE.head(line) for line in range(5)] == [None, 0, 0, None, 3]


def test_a_line_is_quoted_from_its_source():
    assert MADE.verbatim(1) == '{"a": "b, c"}'
    assert MADE.verbatim(3) == "other"
