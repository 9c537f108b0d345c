"""Code lines: in a program, comments and definitions tell something, and not what it does."""

import pytest
from tests.growth import grows_linearly

from foldline.snapshot.code_lines import explaining
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import SourceText
from foldline.snapshot.statements import blocks
from foldline.snapshot.worth import Judge

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
        found = explaining(text, lines_of(text))
        assert found is not None
        assert found[:8] == [True, True, False, False, False, False, False, False]


def test_what_is_no_program_has_no_such_lines():
    assert explaining(LOG, lines_of(LOG)) is None
    assert explaining("", []) is None


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
        return explaining(made, blocks(made))

    assert grows_linearly(judged, lambda size: PROGRAM * (size // 10), 1_000, 8_000)
    assert grows_linearly(judged, lambda size: PROGRAM + " " * 100 * size, 1_000, 8_000)


@pytest.mark.parametrize("sign", ["#", "/", ";", "-", "*"])
def test_a_long_line_of_signs_takes_linear_time(sign):
    def judged(made):
        return explaining(made, blocks(made))

    assert grows_linearly(judged, lambda size: PROGRAM * 3 + sign * size, 1_000, 8_000)
