"""Where a view stands in the log, and whose usage it is that comes with several messages."""

from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.values.messages import Usage

TURNS = [
    {"role": role, "content": f"{role} {n} " + f"word{n} " * 200}
    for n in range(30)
    for role in ("user", "assistant")
]


def begun(window=100_000):
    return Session.open(None, "s", store=MemoryStore(), window=window)


def test_what_is_shown_as_it_came_has_its_place_in_the_log():
    session = begun()
    session.extend(TURNS[:5])
    assert session.positions(session.view()) == [0, 1, 2, 3, 4]


def test_what_an_edit_made_has_no_place():
    session = begun(8_000)
    for turn in TURNS:
        session.append(turn)
        view = session.view()
    places = session.positions(view)
    assert None in places
    assert [TURNS[p] for p in places if p is not None] == [
        wire for wire, p in zip(view, places, strict=True) if p is not None
    ]


def test_usage_is_of_the_last_answer_among_several_messages():
    session = begun()
    session.extend(TURNS[:1])
    session.extend(TURNS[1:3], usage=Usage(900, 100))
    assert [message.usage for message in session.messages] == [None, Usage(900, 100), None]
