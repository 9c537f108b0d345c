import pytest

from foldline.errors import RecallError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.recall.fitting import cap
from foldline.recall.session_search import BATCH, PastSession, search_past

ANY = cap(None, None, None)


def session(name, *texts):
    wires = [{"role": "user", "content": text} for text in texts]
    return PastSession(f'session "{name}"', OpenAIChatDialect().decode(wires).messages)


def search(past, query, fits=ANY, clock=lambda: 0.0, **rest):
    return search_past(past, query, fits, clock=clock, **rest)


def test_the_best_passage_of_any_session_comes_first_with_handle_and_session():
    past = [
        session("new", "We talked about lunch.", "The release is on Friday."),
        session("old", "The release key is called heron.", "Nothing else."),
    ]
    found = search(past, "what is the release key called?")
    first, second = found.text.split("\n")[:2]

    assert second == "The release key is called heron."
    assert first.startswith(f"[{next(iter(past[1].messages)).id[:12]} user")
    assert 'session "old"' in first
    assert found.searched == 2


def test_equal_passages_of_several_sessions_are_returned_once():
    past = [session(name, "The release key is called heron.") for name in "abc"]
    assert search(past, "release key").found == 1


def test_an_answer_keeps_to_its_limit_and_names_the_next_page():
    texts = [f"The release number {n} was made on day {n} by Ann." for n in range(30)]
    past = [session(str(number), text) for number, text in enumerate(texts)]
    fits = cap(None, 500, None)
    first = search(past, "release Ann", fits=fits)
    assert len(first.text) <= 500
    start = int(first.text.rsplit("start=", 1)[1].rstrip("]"))
    second = search(past, "release Ann", fits=fits, start=start)
    assert second.text.split("\n")[1] not in first.text


def test_a_search_ends_in_time_and_reports_how_many_sessions_it_read():
    now = iter(range(1_000))
    past = [session(str(n), *[f"release {n} {m}" for m in range(BATCH)]) for n in range(10)]
    found = search(past, "release", clock=lambda: float(next(now)), seconds=5.0)
    assert 0 < found.searched < 10
    assert found.found


@pytest.mark.parametrize("query", ["", "   ", "?!"])
def test_a_query_without_words_is_refused(query):
    with pytest.raises(RecallError, match="no words"):
        search([session("a", "text")], query)


def test_a_page_past_the_end_is_refused():
    with pytest.raises(RecallError, match="past the end"):
        search([session("a", "release")], "release", start=9)
