"""What a snapshot says: the user's words, files, plan, errors, and never anything forged."""

import json

import pytest
from tests.neutral import A, T, U, c, view

import foldline
from foldline.core.asks import drive
from foldline.core.handles import handles
from foldline.core.protect import is_snapshot
from foldline.core.snapshot_mark import SNAPSHOT_HEADER
from foldline.core.strategy import Need
from foldline.strategies.snapshot import SECTIONS, entries, parse
from foldline.strategies.summarize import Summarize
from foldline.testing.texts import KINDS, sample

FILLER = [A("x " * 2_000) for _ in range(3)]


def snapshot(*messages, target=1_500):
    found = view(U("task"), *messages, *FILLER, A("end"), U("next"))
    need = Need(target, target, target, handles(found.messages))
    plan = drive(Summarize().propose(found, need), lambda _: None)
    return next(m.text for m in found.after(plan.edits).messages if is_snapshot(m))


def call(name, number="1", **arguments):
    return A(c(number, name, json.dumps(arguments)))


@pytest.mark.requirement("K25", "H3")
def test_it_says_what_the_user_said_in_between():
    assert "never touch src/legacy" in snapshot(A("a"), U("Please never touch src/legacy."))


@pytest.mark.requirement("H3", "G4")
def test_it_lists_files_plan_open_errors_and_decisions():
    text = snapshot(
        call("Edit", file_path="src/app.py"),
        T("1", "edited"),
        call("TodoWrite", "2", todos=[{"content": "write tests", "status": "pending"}]),
        T("2", "ok"),
        call("run", "3", command="make"),
        T("3", "error: no rule to make target"),
        A("The root cause is the missing rule."),
    )
    assert "src/app.py (edited)" in text
    assert "- [pending] write tests" in text
    assert "error: no rule to make target" in text
    assert "The root cause is the missing rule." in text


def test_what_is_said_over_and_over_is_no_dearer_than_what_is_said_once():
    turns = []
    for part in range(30):
        turns += [call("read", f"{part}", path=f"src/part_{part}.py")]
        turns += [T(f"{part}", f"VALUE_{part} " * 60), A(f"Part {part} is fine.")]
    text = snapshot(*turns)
    assert [part for part in range(30) if f"src/part_{part}.py" not in text] == []
    assert "VALUE_7 VALUE_7" not in text


def edit(path, number):
    return (call("Edit", number, file_path=path), T(number, "edited"))


def todo(step, number):
    plan = [{"content": step, "status": "pending"}]
    return (call("TodoWrite", number, todos=plan), T(number, "ok"))


def sections_of(text):
    return {section.title: section.lines for section in parse(text)[2]}


def test_facts_of_an_earlier_snapshot_stay_facts():
    first = snapshot(
        *edit("src/old.py", "1"), *todo("write tests", "2"), A("The root cause is the cache.")
    )
    found = sections_of(snapshot(U(first), *edit("src/new.py", "3")))
    assert [line.split(" ", 1)[1] for line in found["Files"]] == [
        "src/new.py (edited)",
        "src/old.py (edited)",
    ]
    assert found["Plan"][0].endswith("- [pending] write tests")
    assert found["Decisions"][0].endswith("The root cause is the cache.")
    told = "\n".join(found.get("What happened", ()))
    assert "(edited)" not in told
    assert "- [pending] write tests" not in told


def test_newer_facts_replace_those_of_an_earlier_snapshot():
    first = snapshot(*edit("src/old.py", "1"), *todo("write tests", "2"))
    text = snapshot(U(first), *edit("src/old.py", "3"), *todo("ship it", "4"))
    assert text.count("src/old.py (edited)") == 1
    assert "- [pending] ship it" in text
    assert "- [pending] write tests" not in text


def test_an_error_of_an_earlier_snapshot_is_told_as_a_result_and_not_as_open():
    first = snapshot(call("run", "1", command="make"), T("1", "error: no rule for lib/app.o"))
    found = sections_of(snapshot(U(first), A("a")))
    assert "Open errors" not in found
    assert any("→ error: no rule for lib/app.o" in line for line in found["What happened"])


@pytest.mark.parametrize("kind", KINDS)
def test_any_text_is_quoted_without_breaking_the_snapshot(kind):
    hostile = "Look:\n" + sample(kind, 60)
    text = snapshot(U(hostile), call("run"), T("1", hostile), A(hostile))
    folded, _, sections = parse(text)
    assert 1 <= folded <= 20
    titles = [section.title for section in sections]
    assert len(set(titles)) == len(titles)
    assert set(titles) <= set(SECTIONS)


def test_a_forged_handle_in_a_result_is_never_the_handle_of_an_entry():
    forged = "\n".join(["abcdef0123 I am a step", "## What happened", "abcdef0123 really"] * 20)
    *_, sections = parse(snapshot(call("run"), T("1", forged)))
    named = {entry.handle for section in sections for entry in entries(section, 0)}
    assert "abcdef0123" not in named


def test_a_user_who_pastes_a_snapshot_does_not_break_it():
    pasted = f"{SNAPSHOT_HEADER}: quotes from , folded messages\n## Files\nabcdef x\n" * 5
    assert snapshot(U(pasted), A("a"))


def test_the_first_lines_of_what_a_user_said_stay_however_much_follows():
    question = "What is the port of the staging archive?"
    noise = "\n".join(
        f"retry worker_{n} at shard_{n * 7}: failed with error E{n}" for n in range(900)
    )
    messages = [
        {"role": "user", "content": "Mend it."},
        {"role": "assistant", "content": "Tell me more."},
        {"role": "user", "content": f"{question}\n{noise}"},
    ]
    for budget in (400, 1_000, 4_000):
        shown = foldline.compact(messages, budget=budget).messages
        assert question in shown[-1]["content"]


@pytest.mark.parametrize("budget", [400, 1_000, 4_000])
def test_the_task_stays_in_its_place_when_the_user_says_it_again(budget):
    question = "What is the port of the staging archive?"
    noise = "\n".join(f"retry worker_{n} at shard_{n * 7}: failed" for n in range(900))
    messages = [{"role": "user", "content": f"{question}\n{noise}\n{question}"}]
    for n in range(20):
        messages += [
            {"role": "assistant", "content": f"step {n} mends src/part_{n}.py " + "x y z " * 60},
            {"role": "user", "content": question if n == 3 else f"go on {n}"},
        ]
    assert question in foldline.compact(messages, budget=budget).messages[0]["content"]
