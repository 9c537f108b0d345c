"""The lines of outputs, with what speaks for them."""

import json

from foldline.snapshot.line_scoring import CLEAR, condense_text, offers
from foldline.snapshot.query import Query

ROWS = [{"id": f"W{4000 + n}", "name": f"name {n}"} for n in range(200)]
TEXT = json.dumps(ROWS)
NOTHING = Query()


def test_the_row_that_is_asked_for_is_offered_as_written_and_whole():
    offered = offers(condense_text(TEXT), Query.in_words("Who ordered W4123?"))
    best = max(offered.extra, key=offered.extra.__getitem__)
    assert offered.lines[best] == json.dumps(ROWS[123])
    assert best in offered.whole


def test_what_frames_an_output_counts_only_where_it_is_much_of_all():
    giant, small = (
        offers(condense_text(TEXT), NOTHING, 1.0),
        offers(condense_text(TEXT), NOTHING, 0.01),
    )
    assert giant.extra[0] >= CLEAR
    assert max(small.extra.values(), default=0.0) < CLEAR
    assert not small.whole


def test_what_has_to_stay_takes_only_a_part_of_what_is_kept():
    text = "\n".join(f"ERROR {n}: row {n} was lost on the way" for n in range(500))
    offered = offers(condense_text(text), Query.in_words("what failed?"), 1.0, 0.1)
    taken = sum(len(offered.lines[place]) for place in offered.whole)
    assert taken < 0.1 * len(text)


def test_a_file_in_a_listing_names_its_folder():
    entry = "-rw-r--r-- 1 me me 10 Mar  3 10:00"
    text = "".join(f"./{d}:\n" + "".join(f"{entry} {d}{n}.py\n" for n in range(9)) for d in "abc")
    assert f"./b: {entry} b4.py" in offers(condense_text(text), NOTHING).lines
