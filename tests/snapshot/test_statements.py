from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import (
    BLOCK,
    COARSEST,
    PARAGRAPH,
    blocks,
    dedent_lines,
    explaining_lines,
    prose,
    sentences,
)
from foldline.snapshot.worth import Judge

SIGNS = ["\n", "\r\n", "\r", "\u2028", "\x85", " ", "\t", "\n\n", "# ", "**a**", ":", ". ", "。"]
WORDS = ["word ", "x" * 90, "y" * 700, "1→", "12: ", ",", "{", "}", "\x1b[1m"]
PIECES = st.sampled_from([*SIGNS, *WORDS])
TEXTS = st.lists(PIECES, max_size=40).map("".join)
HOSTILE = {
    "one letter": "a",
    "line feeds": "\n",
    "blanks": " ",
    "line ends": "\r\n",
    "lines of one letter": "a\r\n",
    "lines that indent": "\n \t",
    "separators": "a\u2028",
    "announcements": "a:\n",
    "announcing paragraphs": "a:\n\n",
    "titles": "**a**\n\n",
    "signs of headings": "# ",
    "sentences": "a. ",
    "full stops": "。",
    "clauses": ",",
    "numbers of lines": "1→a\n",
}


def cut(cutting, text):
    return [text[start:end] for start, end in cutting(text)]


@pytest.mark.parametrize("cutting", [prose, blocks])
@given(text=TEXTS)
@example(text=" " * 1_000)
@example(text="a" + " " * 1_000 + "b")
def test_statements_are_slices_in_order_that_do_not_overlap(cutting, text):
    slices = cutting(text)
    assert all(0 <= start < end <= len(text) for start, end in slices)
    assert all(before[1] <= after[0] for before, after in pairwise(slices))
    assert all(text[start:end].strip() for start, end in slices)


@pytest.mark.parametrize("cutting", [prose, blocks])
@given(text=TEXTS)
def test_nothing_that_is_said_is_left_out(cutting, text):
    assert "".join("".join(cut(cutting, text)).split()) == "".join(text.split())


@pytest.mark.requirement("G5")
@pytest.mark.parametrize("cutting", [prose, blocks, dedent_lines])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_cut_in_linear_time(cutting, piece):
    assert grows_linearly(cutting, repeated(piece), 125_000, 1_000_000)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_no_statement_is_too_large_to_be_chosen(piece):
    text = piece * (100_000 // len(piece))
    assert all(len(found) <= 2 * PARAGRAPH for found in cut(prose, f"{text}\nend"))
    assert all(len(found) <= 2 * PARAGRAPH for found in cut(blocks, f"{text}\nend"))


LONG = " ".join(f"Sentence {n} says that the linker needs port {48_000 + n}." for n in range(40))


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
@pytest.mark.parametrize("announcement", ["## Cause", "The cause:", "**Cause**", "原因："])
@pytest.mark.parametrize("body", ["The cache is stale.", LONG, "\n".join(["one line"] * 200)])
def test_a_heading_stays_with_what_it_announces(announcement, body, feed):
    text = f"I looked.\n\n{announcement}\n\n{body}\n\nThe end.".replace("\n", feed)
    (found,) = [piece for piece in cut(prose, text) if announcement in piece]
    assert body[:8] in found
    assert cut(prose, text)[0].rstrip() == "I looked."


def test_the_last_line_of_a_paragraph_stays_with_the_list_that_it_announces():
    rule = "The patch must only hold changes of the sources that mend what was reported." * 3
    listed = "- helper scripts and tools\n- binary files"
    text = f"{rule}\nDo not submit any of these:\n\n{listed}\n\nThat is all."
    assert cut(prose, text) == [rule, f"Do not submit any of these:\n\n{listed}", "That is all."]


@pytest.mark.parametrize("announcement", ["## Cause", "The cause:", "**Cause**"])
def test_a_heading_within_a_long_paragraph_stays_with_its_line(announcement):
    text = "one line of it\n" * 38 + announcement + "\nand another line" * 60
    (found,) = [piece for piece in cut(prose, text) if announcement in piece]
    assert f"{announcement}\nand another line" in found


def test_a_short_paragraph_is_one_statement():
    text = "It fails.\nThe cache is stale. It was built before.\n\nNow I build it."
    assert cut(prose, text) == text.split("\n\n")


def test_the_number_of_an_item_ends_no_sentence():
    assert sentences("1. Fix it now.") == ["1. Fix it now."]
    text = "Two steps are left. 1. Build it. 12. Test it (e.g. by hand). Then release it."
    found = sentences(text)
    assert found == [
        "Two steps are left.",
        "1. Build it.",
        "12. Test it (e.g. by hand).",
        "Then release it.",
    ]


def test_a_long_line_is_cut_at_its_sentences():
    assert all(found.endswith(".") for found in cut(prose, LONG))
    assert all(found.endswith(".") for found in cut(prose, f"## Title\n\n{LONG}"))


def test_a_long_list_is_cut_between_its_lines():
    lines = [f"- item {n} of the list that is long" for n in range(60)]
    assert "\n".join(cut(prose, "\n".join(lines))).split("\n") == lines


def test_an_output_is_cut_into_whole_lines():
    lines = [f"src/module_{n}.c:{n}: the line that it stands in" for n in range(40)]
    found = cut(blocks, "\n".join(lines))
    assert 1 < len(found) < len(lines)
    assert "\n".join(found).split("\n") == lines


def test_a_long_output_is_cut_into_larger_blocks_than_a_short_one():
    lines = [f"line {number} of an output of some program" for number in range(1_000)]
    short, long = (cut(blocks, "\n".join(lines[:count])) for count in (20, 1_000))
    assert max(map(len, short)) <= BLOCK < len(long[0]) <= COARSEST * BLOCK


def test_an_output_in_one_line_is_cut_at_its_clauses():
    text = ", ".join(f'"key_{n}": "value {n}"' for n in range(200))
    found = cut(blocks, text)
    assert "".join(found) == text
    assert all(piece.endswith((", ", '": ', " ")) for piece in found[:-1])


def test_a_long_line_is_cut_behind_sentences_where_it_has_some():
    text = " ".join(f"Sentence {n} tells, as it should, of some module." for n in range(40))
    found = cut(blocks, text)
    assert "".join(found) == text
    assert all(piece.rstrip().endswith(".") for piece in found)


def test_what_a_reader_put_before_lines_is_not_shown():
    assert dedent_lines("  7→    def main():\n  8→        run()") == "def main():\n    run()"
    assert dedent_lines("12: import os\n13: import re") == "import os\nimport re"
    assert dedent_lines("  \n\t\n") == ""


def test_numbers_that_belong_to_a_line_are_shown():
    assert dedent_lines("404 is the status\n12:30 it began") == "404 is the status\n12:30 it began"


PART = """\
// closeAll releases the store, because nothing else does.
func closeAll{n}(store *Store) error {{
	items, err := store.List()
	if err != nil {{
		return fmt.Errorf("failed to list items: %w", err)
	}}
	return nil
}}
"""
PROGRAM = "".join(PART.format(n=n) for n in range(6))
LOG = "".join(f"step {n} of the build failed because of part {n}\n" for n in range(40))


def lines_of(text):
    starts = [0, *(place + 1 for place, sign in enumerate(text) if sign == "\n")]
    return [(start, text.index("\n", start)) for start in starts[:-1]]


def numbered(text):
    return "".join(f"{n:6}\t{line}\n" for n, line in enumerate(text.split("\n")[:-1], 1))


def test_a_comment_that_is_a_sentence_and_a_definition_explain_a_program():
    for text in (PROGRAM, numbered(PROGRAM)):
        found = explaining_lines(text, lines_of(text))
        assert found is not None
        assert found[:8] == [True, True, False, False, False, False, False, False]


def test_what_is_no_program_has_no_such_lines():
    assert explaining_lines(LOG, lines_of(LOG)) is None
    assert explaining_lines("", []) is None


def test_a_failure_that_a_program_speaks_of_is_worth_less_than_what_explains_it():
    source = SourceText(1, 0, "result", PROGRAM, "1f0c2a", 0.25, 1.0)
    slices = lines_of(PROGRAM)
    worths = list(Judge({}, Focus()).worths(source, slices))
    assert worths[8] > worths[12]
    assert len(worths) == len(slices)


@pytest.mark.parametrize("words", ["failed to read", "读取数据失败", "❌ of items"])
def test_no_statement_of_a_program_is_a_failure_in_any_script(words):
    def statement(words):
        text = PROGRAM.replace("failed to list items", words)
        source = SourceText(1, 0, "result", text, "1f0c2a", 0.25, 1.0)
        return list(Judge({}, Focus()).worths(source, lines_of(text)))[4]

    assert statement(words) == statement("n" * len(words))


def test_looking_for_them_grows_linearly():
    def judged(made):
        return explaining_lines(made, blocks(made))

    assert grows_linearly(judged, lambda size: PROGRAM * (size // 10), 1_000, 8_000)
    assert grows_linearly(judged, lambda size: PROGRAM + " " * 100 * size, 1_000, 8_000)


@pytest.mark.parametrize("sign", ["#", "/", ";", "-", "*"])
def test_a_long_line_of_signs_takes_linear_time(sign):
    def judged(made):
        return explaining_lines(made, blocks(made))

    assert grows_linearly(judged, lambda size: PROGRAM * 3 + sign * size, 1_000, 8_000)
