"""What a line is worth before any is chosen: who says it, and whether it answers the question."""

from tests.neutral import A, T, U, c, view

from foldline.core.handles import handles
from foldline.core.strategy import Need
from foldline.strategies.material import gather
from foldline.strategies.offering import ALARM, WEIGHT, Offering

LOG = "\n".join(f"{n:02d} moved part_{n} to shelf_{n * 7}" for n in range(60))


def offering(*messages, focus="", listed=()):
    found = view(*messages)
    need = Need(500, 500, 500, handles(found.messages), focus=focus)
    material = gather(found, need, range(len(found.messages)), ())
    return Offering.of(found, need, material, set(listed), 100)


def worth(made, text):
    """Return what is added for a line, the weight of its names first."""
    for offer in (*made.by_user(), *made.by_others()):
        for number, line in enumerate(offer.lines):
            if text in line:
                return offer.marked.get(number, offer.worth)
    raise AssertionError(f"{text!r} is not offered")


def test_users_and_others_are_offered_apart_and_nobody_twice():
    made = offering(U("Look at a_b."), A("Reading", c("1", "read")), T("1", "c_d = 1"))
    assert [line for offer in made.by_user() for line in offer.lines] == ["Look at a_b."]
    said = [line for offer in made.by_others() for line in offer.lines]
    assert sorted(said) == ["Reading", "c_d = 1", "read"]


def test_a_line_of_a_failure_is_worth_more():
    made = offering(U("Go."), A(c("1", "run")), T("1", "all is well\nerror: no such file"))
    assert worth(made, "error: no")[0] == ALARM * WEIGHT["result"]
    assert worth(made, "all is well")[0] == WEIGHT["result"]


def test_a_line_that_answers_the_question_is_worth_more_and_stays_whole():
    made = offering(U("Where did part_17 go?"), A(c("1", "log")), T("1", LOG))
    assert worth(made, "part_17 ")[1] > 10 * worth(made, "part_23 ")[1]
    offer = next(offer for offer in made.by_others() if len(offer.lines) > 20)
    assert any("part_17 " in offer.lines[number] for number in offer.whole)


def test_a_line_that_matches_the_focus_is_worth_more():
    made = offering(U("Go."), A(c("1", "log")), T("1", LOG), focus="shelf_70")
    assert worth(made, "shelf_70")[1] > worth(made, "shelf_77")[1]


def test_what_an_earlier_list_tells_is_not_offered_again():
    messages = (U("Go."), A("First"), A("Second"))
    every = list(offering(*messages).by_others())
    without = list(offering(*messages, listed=[every[0].group]).by_others())
    assert [offer.group for offer in without] == [offer.group for offer in every[1:]]


def test_a_part_may_stand_only_for_what_the_assistant_and_its_tools_said():
    made = offering(U("Look at a_b."), A("Reading", c("1", "read")), T("1", "c_d = 1"))
    assert not any(offer.parts for offer in made.by_user())
    assert all(offer.parts for offer in made.by_others())
