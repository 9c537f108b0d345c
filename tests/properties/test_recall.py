"""An answer of recall fits its cap, holds what matches, and says what is left, for any text."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st
from tests.recall.test_searching import COUNTER, SNAPSHOT, call, folded, result

from foldline.recall import recall

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\n")
FILLER = st.text(LETTERS, max_size=120) | st.just("/home/user/project/src/app/main.py:7: x = 1")
LINES = st.tuples(FILLER, FILLER, st.sampled_from([1, 1, 1, 40])).map(
    lambda parts: f"{parts[0] * parts[2]} zebra {parts[1]}"
)
"""Lines that match, one in four of them long."""

LEFT = re.compile(r"\[(Cut: [^\n]+|[^\n]*\d more (passages|matches): start=\d+)\]")


@st.composite
def texts(draw):
    """Return lines, numbered where they match, as plain text or as one line of JSON."""
    lines = draw(st.lists(FILLER, max_size=30))
    for number in range(draw(st.integers(1, 8))):
        lines.insert(draw(st.integers(0, len(lines))), f"{draw(LINES)} number{number}")
    if draw(st.booleans()):
        return json.dumps({draw(FILLER): lines}, ensure_ascii=draw(st.booleans()))
    return "\n".join(lines)


@given(texts(), FILLER, st.integers(60, 400), st.sampled_from(["query", "grep"]))
def test_an_answer_fits_holds_a_match_and_says_what_is_left(text, command, cap, way):
    held, _ = folded(call("c1", "bash", command=command), result("c1", text))

    whole = recall(held, SNAPSHOT, **{way: "zebra"}).text
    found = recall(held, SNAPSHOT, **{way: "zebra"}, max_tokens=cap, counter=COUNTER).text

    assert COUNTER.text(found) <= cap
    assert "zebra" in found
    if found.count("zebra") < whole.count("zebra"):
        assert LEFT.fullmatch(found.rpartition("\n")[2])


@given(texts(), st.integers(60, 400), st.sampled_from(["query", "grep"]))
def test_pages_of_a_search_end(text, cap, way):
    held, _ = folded(call("c1", "bash", command="run"), result("c1", text))

    start, starts = 0, list[int]()
    while start not in starts:
        starts.append(start)
        page = recall(
            held, SNAPSHOT, **{way: "zebra"}, start=start, max_tokens=cap, counter=COUNTER
        )
        assert COUNTER.text(page.text) <= cap
        more = re.search(r"start=(\d+)\]$", page.text)
        start = int(more[1]) if more else start
    assert starts == sorted(starts)
    assert not more
