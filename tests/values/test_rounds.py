from tests.neutral import A, S, T, U, c, log, words

from foldline import Session
from foldline.stores.memory import MemoryStore
from foldline.values.rounds import rounds


def test_a_round_is_a_user_message_and_everything_after_it():
    told = log(S("s"), U("a"), A(c("1")), T("1"), A("done"), U("b"), U("c"), A("x"))
    assert [words(one) for one in rounds(told)] == [
        ["U:a", "A{1}", "T(1)", "A:done"],
        ["U:b"],
        ["U:c", "A:x"],
    ]
    assert rounds(log(S("s"), A("hello"))) == rounds(()) == ()


def test_a_session_has_all_its_rounds_after_compactions():
    session = Session.open(None, "s", store=MemoryStore(), window=4_000)
    for n in range(20):
        session.append({"role": "user", "content": f"question {n} " + "word " * 100})
        session.append({"role": "assistant", "content": f"answer {n} " + "word " * 100})
        session.view()
    assert session.receipts
    assert len(session.rounds) == 20
    assert [message.role for message in session.rounds[3]] == ["user", "assistant"]
    assert session.rounds[3][0].text.startswith("question 3")
