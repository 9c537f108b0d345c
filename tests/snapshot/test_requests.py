"""Requests: each stands with the last statement about it, and no code passes for an answer."""

import json

import pytest
from tests.neutral import A, T, U, c, view

from foldline.core.strategy import CompactionContext
from foldline.snapshot.phrases import ENGLISH
from foldline.snapshot.query_terms import Focus
from foldline.snapshot.requests import Requests
from foldline.snapshot.worth import Judge
from foldline.values.handles import handles
from foldline.values.messages import Message, Text


def run(number, name="run", **arguments):
    return A(c(number, name, json.dumps(arguments)))


def listed(*messages, positions=None, earlier=()):
    found = view(*messages)
    context = CompactionContext(1_000, 1_000, 1_000, handles(found.messages))
    folded = frozenset(range(len(messages)) if positions is None else positions)
    return Requests(found, context, folded, Judge(found.names, Focus()), ENGLISH).rows(earlier)


def test_every_request_stands_with_what_came_of_it():
    found = listed(U("Mend a.py."), A("Done: a.py is mended."), U("Now b.py."), A("b.py is done."))
    first, second = found
    assert first.endswith("“Mend a.py.”: answered: Done: a.py is mended.")
    assert second.endswith("“Now b.py.”: answered: b.py is done.")


def test_an_answer_without_a_word_of_outcomes_stands_from_its_beginning():
    (row,) = listed(U("Which port?"), A("The port is 48113 here. Thank you."))
    assert row.endswith("answered: The port is 48113 here. Thank you.")


def test_a_request_that_nothing_came_of_says_so():
    first, second = listed(U("Mend a.py."), U("Now b.py."), run("1"), T("1"))
    assert first.endswith("no outcome stated")
    assert second.endswith("in work, nothing said yet")


def test_a_few_words_that_it_is_done_are_an_outcome():
    first, _ = listed(U("Add the flag."), A("Sure, done."), U("Now the other."), A("Added it."))
    assert first.endswith("answered: Sure, done.")


def test_what_was_announced_is_an_outcome_only_while_it_is_in_work():
    said = A("Now I need to add the styles. Let me find where they are defined:")
    first, second = listed(U("Mend a.py."), said, run("1"), T("1"), U("Now b.py."), said, run("2"))
    assert first.endswith("no outcome stated")
    assert "in work, last said: Now I need" in second


def test_a_request_that_is_cut_says_so():
    (row,) = listed(U("Mend " + "all of it " * 90), A("Done."))
    assert "…”: answered: Done." in row


def test_a_request_that_stays_beside_the_snapshot_says_so():
    (row,) = listed(U("Mend it."), A("It is done."), positions=[1])
    assert "(stands in full beside this): answered" in row


def test_a_request_that_stays_with_its_answer_is_not_listed():
    messages = (U("Mend it."), run("1"), T("1", "read"), A("It is done."))
    assert not listed(*messages, positions=[1, 2])


def test_a_command_at_the_end_of_an_answer_is_no_answer():
    said = "The lock is fixed.\n```bash\nls src\n```"
    (row,) = listed(U("Mend it."), A(said), U("a.py\nb.py"))
    assert row.endswith("The lock is fixed.")


def test_an_answer_stands_in_sentences_rather_than_in_code():
    said = "The root cause is the lock.\n```go\nif failed { return errors.New(failed) }\n```"
    (row,) = listed(U("Why?"), A(said))
    assert row.endswith("answered: The root cause is the lock.")


def test_code_that_an_answer_announces_stands_in_it_with_its_first_line():
    said = "The root cause is what we send:\n\n```go\nsend(lock)\nwait()\n```\n\nBut it is open."
    (row,) = listed(U("Why?"), A(said))
    assert row.endswith("answered: The root cause is what we send: `send(lock)` … But it is open.")


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("Result is:\n```\n```\nThe root cause is the lock.", "The root cause is the lock."),
        ("Steps:\n  ```\n  a\n  ```\n  ```\n  b\n  ```", "Steps: `a`"),
        ("````md\n```\nx\n```\n````\nThe root cause is the lock.", "The root cause is the lock."),
        ("```make``` builds it.\nThe root cause is the lock.", "The root cause is the lock."),
        (" " * 20_000 + "It fails because of the lock.", "It fails because of the lock."),
    ],
    ids=["empty", "indented", "nested", "inline", "blank"],
)
def test_odd_blocks_of_code_hide_nothing_of_an_answer(said, answer):
    (row,) = listed(U("Why?"), A(said))
    assert row.endswith(answer)


@pytest.mark.requirement("G4")
def test_an_answer_is_cut_behind_a_sentence_and_not_behind_the_number_of_an_item():
    items = [f"{n}. the file number {n} was fixed with a lock (e.g. a mutex)" for n in range(1, 9)]
    found = listed(U("Mend them."), A("All are fixed:\n" + "\n".join(items)))
    (row,) = found
    assert row.endswith("…")
    assert not row.rstrip("…")[-1].isdigit()
    short = [
        f"Number {n} was fixed with a lock that every one of the writers takes." for n in "abcd"
    ]
    (row,) = listed(U("Mend them."), A(" ".join(short)))
    assert row.endswith("takes. …")


def test_requests_that_a_client_states_again_stand_with_what_came_of_them():
    found = listed(
        *(U("Mend a.py."), A("Done: a.py is mended."), U("Now b.py."), A("b.py is done.")),
        *(U("Mend a.py."), U("Now b.py."), U("And c.py?"), A("Compacted."), U("Mend a.py.")),
        A("a.py was fixed again."),
    )
    assert [row.split("“")[1] for row in found] == [
        "Mend a.py.”: answered: Done: a.py is mended.",
        "Now b.py.”: answered: b.py is done.",
        "And c.py?”: answered: Compacted.",
        "Mend a.py.”: answered: a.py was fixed again.",
    ]


def test_a_request_without_an_outcome_that_is_made_again_stands_once():
    found = listed(U("Mend a.py."), U("Mend a.py."), A("Done: a.py is mended."), U("Now b.py."))
    assert [row.split("“")[1] for row in found] == [
        "Mend a.py.”: answered: Done: a.py is mended.",
        "Now b.py.”: in work, nothing said yet",
    ]


def test_an_answer_stands_in_sentences_rather_than_in_the_rows_of_a_table():
    table = "| Step | Result |\n|---|---|\n| Build because of a fix | ✅ PASS |\n"
    (row,) = listed(U("Mend a.py."), A(f"## Results\n\n{table}\nThe build was fixed."))
    assert "The build was fixed." in row
    assert "|" not in row
    for front in ("", "## Results\n\n", "---\n\n", "Here is the comparison:\n\n"):
        (row,) = listed(U("Mend a.py."), A(f"{front}{table}"))
        assert "Build because of a fix" in row


def test_a_request_that_is_made_again_is_in_work():
    asked = [U("Run the tests."), A("Done, they pass."), U("Mend a.py."), A("It is done.")]
    found = listed(*asked, U("Run the tests."), run("1", command="make test"), T("1", "…"))
    assert found[-1].endswith("“Run the tests.”: in work, nothing said yet")


def test_a_request_of_an_earlier_snapshot_stands_once_with_what_came_of_it_last():
    messages = (U("Mend it."), A("It is done."))
    (row,) = listed(*messages)
    handle = row.partition(" ")[0]
    old = (f"{handle} “Mend it.”: in work, nothing said yet", "ffffff “Look.”: answered: Seen.")
    assert listed(*messages, earlier=old) == (old[1], row)


def test_an_outcome_of_an_earlier_snapshot_stays_while_nothing_new_is_said():
    old = listed(U("Port it."), A("The port is done."), U("Now the parser."), positions=(0, 1))
    later = (U("Port it."), U("Now the parser."), A("The parser is done."), U("Go on."))
    assert "answered: The port is done." in old[0]
    port, parser = listed(*later, positions=(1, 2), earlier=old)
    assert port == old[0]
    assert "answered: The parser is done." in parser


def test_nothing_is_claimed_of_a_request_whose_outcome_an_earlier_snapshot_left_out():
    snapshot = Message("user", (Text("A snapshot."),), origin="snapshot")
    messages = (U("Port it."), snapshot, U("Now the parser."), A("It is done."), U("Go on."))
    (row,) = listed(*messages, positions=(1, 2, 3))
    assert "“Now the parser.”: answered: It is done." in row


def test_a_question_that_was_answered_stands_with_its_answer_where_the_work_went_on():
    messages = (
        *(U("Port the server."), run("1"), T("1"), U("Which port does it use?")),
        *(A("It uses 8443."), run("2"), T("2"), A("All of it is ported.")),
    )
    (row,) = listed(*messages, positions=(1, 2, 4, 5, 6))
    assert "“Which port does it use?” (stands in full beside this): answered: It uses 8443." in row


def test_a_request_behind_the_snapshot_stands_with_what_came_of_it_while_work_goes_on():
    messages = (
        *(A("An example."), U("Mend it."), A("The cause is a race.", c("1", "run", "{}"))),
        *(T("1"), A("I submit it.", c("2", "submit", "{}")), T("2")),
    )
    (row,) = listed(*messages, positions=(0, 2, 3))
    assert row.endswith("last said: The cause is a race.")


def test_sentences_that_are_left_out_of_a_request_or_its_answer_are_marked():
    wish = "Rename the table orders to purchases in the whole schema. Never do it in production, "
    answer = "The word is long. It was added. " + "The rest of the report still reads it. " * 9
    (row,) = listed(U(wish + "where it is not allowed."), A(answer))
    assert "in the whole schema. …”" in row
    assert "answered: … It was added." in row
    assert row.endswith(" …")


def test_what_came_of_a_request_that_ends_in_a_question_mark_is_its_own():
    messages = (
        *(U("Fix the crash."), A("Fixed: it no longer crashes."), U("Can you also add tests?")),
        *(A("The export module lacks tests.", c("1", "run", "{}")), T("1"), A("Added 5 tests.")),
    )
    (row,) = listed(*messages, positions=(0, 1, 3, 4))
    assert row.endswith("“Fix the crash.”: answered: Fixed: it no longer crashes.")


@pytest.mark.parametrize("final", ["All login tests pass now, fixed.", "It fails because of X."])
def test_no_older_statement_stands_beside_an_outcome_in_view(final):
    messages = (
        *(A("An example."), U("Fix it."), A("I fixed the clock but it still fails.")),
        *(run("1"), T("1"), A(final, c("2", "submit", "{}")), T("2")),
    )
    assert not listed(*messages, positions=(0, 2, 3, 4))
