"""Worth: what a statement is worth is judged once, by who says it and what it says."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.query_terms import Focus
from foldline.snapshot.sources import SourceText
from foldline.snapshot.worth import WEIGHT, Judge, cost

JUDGE = Judge({"src/app.py": 0.5, "load_all": 1.0}, Focus())


def source(text, speaker="agent", recency=1.0):
    return SourceText(1, 0, speaker, text, "1f0c2a", 0.25, recency)


def worth(text, speaker="agent", recency=1.0, judge=JUDGE):
    return next(judge.worths(source(text, speaker, recency), [(0, len(text))]))


def test_words_of_the_user_are_worth_more_than_those_of_the_agent_and_those_more_than_outputs():
    text = "The build of the small machine was made here."
    assert worth(text, "user") > worth(text, "agent") > worth(text, "result") > 0


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("It is in load_all of that place.", "It is in some part of that place."),
        ("It fails because the cache is old.", "It stands where the cache is old."),
        ("There was an Error in the old cache.", "There was an entry in the old cache."),
        ("The cache MUST stay in the machine.", "The cache may stay in the machine."),
        ("The cache of the machine is old.", "Let me look at the cache of it."),
        ("The cache of the machine is old.", "x = 1; y = 2; z = 3; w = 4; v"),
        ("因为缓存已经过期所以构建没有成功。", "我们现在看看这个文件里面的内容吧。"),
    ],
)
def test_names_reasons_and_failures_speak_for_a_statement(better, worse):
    assert worth(better) > worth(worse)


def test_a_newer_statement_is_worth_more_than_an_older_one():
    assert worth("It is done now.", recency=1.0) > worth("It is done now.", recency=0.1) > 0


def test_a_question_that_ends_an_answer_is_put_to_the_user_and_no_doubt():
    asked = "I think the change is wrong. Should I take it back?"
    thought = f"{asked}\n\nThe tests are green."
    slices = [(0, len(asked)), (len(asked) + 2, len(thought))]
    assert worth(asked) > next(JUDGE.worths(source(thought), slices))


def test_what_the_caller_wants_to_be_kept_is_worth_more():
    focused = Judge({}, Focus.of("the linker"))
    assert worth("It is the linker here.", judge=focused) > worth("It is the linker here.")


def test_signs_without_words_are_worth_nothing_unless_the_user_wrote_them():
    assert worth("----") == worth("}", "result") == 0
    assert worth("=" * 100) == worth("\t" * 100, "result") == worth("═" * 100, "result") == 0
    assert worth("ok", "user") > 0


def test_a_log_that_a_user_pasted_is_worth_less_than_what_they_say_of_it():
    log = "".join(f"{n}: Run actions/checkout@v{n}, done in {n} ms\n" for n in range(90))
    said = "We are in a work tree, and it looks as if another branch was built."
    text = f"{said}\n\n{log}"
    slices = [(0, len(said)), (len(said) + 2, len(said) + 480)]
    words, pasted = JUDGE.worths(source(text, "user"), slices)
    assert words == worth(said, "user")
    assert pasted < words / 4


def test_brief_requirements_in_a_long_request_are_no_log():
    for brief in ("max_retries: 5 and port: 8443", "TIMEOUT=30s; no ORM!", "Use Postgres 15."):
        text = f"{'Please build it as the team said. ' * 90}\n\n{brief}"
        place = len(text) - len(brief)
        long = list(JUDGE.worths(source(text, "user"), [(place, len(text))]))
        assert long == list(JUDGE.worths(source(brief, "user"), [(0, len(brief))]))


def test_brackets_far_to_the_right_are_worth_no_more_than_brackets():
    assert worth(" " * 60 + "},\n" + " " * 56 + "]\n" + " " * 52 + "}", "result") == 0


def test_keys_and_encoded_data_in_an_output_are_worth_less():
    plain = "this is a line of it " + "ab cd " * 20
    assert worth(plain, "result") > worth("this is a line of it " + "abcd" * 30, "result")


def test_a_line_of_a_short_output_is_worth_more_than_the_same_line_of_a_long_one():
    line = "the port is 48113 on this machine"
    long = line + "\n" + "another of its lines\n" * 400
    in_long = next(JUDGE.worths(source(long, "result"), [(0, len(line))]))
    assert worth(line, "result") > in_long


def test_a_statement_costs_its_tokens_and_its_row():
    found = source("x" * 400)
    assert 100 < cost(found, 0, 400) < 110
    assert cost(found, 0, 400) > cost(found, 0, 200)


@given(st.text(max_size=80), st.sampled_from(sorted(WEIGHT)), st.floats(0, 1))
def test_no_statement_has_a_negative_worth_and_every_slice_has_one(text, speaker, recency):
    slices = [(0, len(text) // 2), (len(text) // 2, len(text))]
    found = list(JUDGE.worths(source(text or "x", speaker, recency), slices))
    assert len(found) == 2
    assert all(one >= 0 for one in found)


@given(
    st.lists(
        st.sampled_from(("load_all", "because", "Error", "x", ". ", "\n", "é", " ")), min_size=1
    )
)
def test_a_statement_is_judged_in_its_text_as_it_is_alone(pieces):
    text = "".join(pieces)
    half = text.find("\n") if "\n" in text else len(text)
    slices = [(0, half), (half, len(text))]
    whole = source(text, "user")
    alone = [next(JUDGE.worths(whole, [one])) for one in slices]
    assert list(JUDGE.worths(whole, slices)) == alone


def worth_of_line(lines, place):
    ends = list(accumulate(len(line) + 1 for line in lines))
    slices = [(end - 1 - len(line), end - 1) for line, end in zip(lines, ends, strict=True)]
    return list(JUDGE.worths(source("\n".join(lines), "result"), slices))[place]


def test_the_one_failure_in_a_long_output_is_worth_more_than_one_of_many():
    fine, failed = "INFO request served in time, no news", "ERROR worker refused the lease, now"
    alone = worth_of_line([*[fine] * 20, failed, *[fine] * 20], 20)
    assert alone > 3 * worth_of_line([failed] * 41, 20)


def test_a_rare_line_that_reports_a_failure_is_worth_more_than_one_with_a_word_of_alarm():
    fine, failed = "INFO request served in time, no news", "ERROR worker refused the lease, now"
    named = "read the module errors of the worker"
    lines = [*[fine] * 20, failed, named, *[fine] * 20]
    assert worth_of_line(lines, 20) > 1.5 * worth_of_line(lines, 21)


def test_failures_in_a_long_output_are_worth_the_less_the_more_there_are():
    fine, failed = "INFO request served in time, no news", "ERROR worker refused the lease, now"
    few, several, many = (
        worth_of_line([failed] * count + [fine] * (60 - count), 0) for count in (3, 9, 50)
    )
    assert few > several > many


def test_a_command_that_failed_is_worth_more_than_one_that_only_names_a_failure():
    failed = worth("Bash npx lint\n→ ERROR: no such key in the file", "change")
    assert failed > worth("Bash npx lint ERROR: no such key\n→ it is in the file", "change")


def test_a_search_that_finds_a_failure_did_not_fail():
    found = worth("run grep -n x a.py\n→ a.py:4:# Error: the old one", "call")
    assert found == worth("run grep -n Error a.py\n→ a.py:4:# x: the old one", "call")


def test_a_lone_tag_is_worth_nothing():
    assert (
        worth("</environment_context>", "document") == 0 < worth("The shell is zsh.", "document")
    )
