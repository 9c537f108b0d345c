"""Notes, memory and codebase: no duplicate facts, and no stale fact unmarked."""

from __future__ import annotations

from itertools import product

import pytest

from foldline import BudgetError, InputError
from foldline.agents.maintainer import knowledge, route
from foldline.agents.maintainer.knowledge import (
    AUTHORITIES,
    VOLATILITIES,
    CodebaseKnowledge,
    KnowledgeRecord,
    StorageRoute,
)
from foldline.memory import Memory
from foldline.notes import Notes
from foldline.rooted_files import Root


@pytest.fixture
def known(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a.py").write_text("rate = 1\nname = 2\n")
    with Memory.open(tmp_path / "memory.db") as memory, Notes.open(tmp_path / "notes") as notes:
        yield CodebaseKnowledge(Root(tmp_path / "code"), notes, memory, "shop", "session_1")


def piece(title="Rate is fixed", content="It should be set.", **more):
    return KnowledgeRecord(title, content, **{"source": "a.py:1"} | more)


@pytest.mark.requirement("E4.1", "T15")
def test_the_same_thing_is_kept_once_and_news_about_it_update_it(known):
    first = known.keep(piece())
    assert first.status == "created"
    assert known.keep(piece()) == type(first)("known", "notes", first.id, first.source)
    again = known.keep(piece(title="rate  IS fixed", content="It is read from the shop."))
    assert (again.status, again.id) == ("updated", first.id)
    (note,) = known.all_notes()
    assert note.content == "It is read from the shop."
    assert known.notes.history(note.id)[0].note.content == "It should be set."


@pytest.mark.requirement("E4.1")
def test_a_fact_in_the_files_is_stored_as_a_pointer_only(known):
    kept = known.keep(piece(authority="workspace"))
    assert (kept.status, kept.layer) == ("not kept", "terminal")
    assert kept.source.startswith("a.py:1@")
    assert known.all_notes() == ()
    assert known.memory.items() == []


@pytest.mark.requirement("E4.1")
def test_a_note_whose_source_changed_is_marked_everywhere(known):
    kept = known.keep(piece(tags=("agent",)))
    known.keep(piece("Name is odd", source="a.py:2", volatility="work"))
    assert known.conflicts() == ()
    (known.root.path / "a.py").write_text("rate = 3\n")
    kinds = {one.kind: one for one in known.conflicts()}
    assert kinds["changed"].ids == (kept.id,)
    assert kinds["changed"].right == "workspace"
    assert "no longer exists" in kinds["gone"].why
    assert "look again" in known.packets("rate fixed")[0].content
    assert any("look again" in row.get("attention", "") for row in known.look_up("rate"))


@pytest.mark.requirement("E4.1")
def test_two_notes_about_one_place_are_named_and_the_person_is_right(known):
    mine = known.keep(piece("Rate is a bug", authority="agent", tags=("agent",)))
    theirs = known.keep(piece("Rate is on purpose", authority="person"))
    assert theirs.others == (mine.id,)
    (conflict,) = known.conflicts()
    assert conflict.kind == "disagree"
    assert conflict.right == theirs.id
    assert conflict.to_dict() == {
        "kind": "disagree",
        "ids": (theirs.id, mine.id),
        "right": theirs.id,
        "why": conflict.why,
    }
    assert known.notes.read(theirs.id).level == "project"


@pytest.mark.requirement("E4.1")
def test_a_memory_that_repeats_a_note_is_named(known):
    note = known.keep(piece("T", "The rate is fixed on purpose."))
    known.memory.add("the rate is fixed, on purpose")
    (conflict,) = known.conflicts()
    assert (conflict.kind, conflict.right) == ("twice", note.id)


@pytest.mark.parametrize(
    "wrong",
    [{"title": " "}, {"content": ""}, {"type": "poem"}, {"source": "b.py"}, {"source": "../a"}],
)
def test_an_invalid_fact_is_refused_and_nothing_is_stored(known, wrong):
    with pytest.raises(InputError):
        known.keep(piece(**wrong))
    assert known.all_notes() == ()


def test_searches_take_types_and_an_empty_query(known):
    known.keep(piece(type="blocker"))
    known.keep(piece("Other", type="action"))
    assert [row["title"] for row in known.look_up("", ["blocker"])] == ["Rate is fixed"]
    assert [row["type"] for row in known.look_up("other", ["action"])] == ["action"]
    assert len(known.look_up("")) == 2
    assert known.blockers == 1


def test_a_search_reads_no_other_notes_than_those_it_finds(known, monkeypatch):
    known.keep(piece())
    monkeypatch.setattr(known.notes, "list", None)  # listing any would fail
    assert known.look_up("rate")


@pytest.mark.requirement("E4.1")
def test_the_rule_is_total_and_is_the_table_that_is_documented():
    rows = [row.split("|")[1:-1] for row in (knowledge.__doc__ or "").splitlines() if "| t" in row]
    rows += [
        r.split("|")[1:-1] for r in (knowledge.__doc__ or "").splitlines() if "| a person" in r
    ]
    words = {"terminal": "terminal", "memory": "memory", "note": "notes"}
    names = {"the workspace": "workspace", "a person": "person", "the agent": "agent"}
    seen = 0
    for row in (one for one in rows if one[0].strip() in names):
        for volatility, cell in zip(VOLATILITIES, row[1:], strict=True):
            home = route(names[row[0].strip()], volatility)
            assert home.layer == words[cell.replace(",", " ").split()[0]]
            seen += 1
    assert seen == len(list(product(AUTHORITIES, VOLATILITIES)))


@pytest.mark.requirement("E4.1")
def test_workspace_facts_are_never_copied_and_lasting_facts_become_notes():
    assert all(route("workspace", one) == StorageRoute("terminal") for one in VOLATILITIES)
    assert route("person", "lasting") == StorageRoute("notes", level="project")
    assert route("agent", "lasting") == StorageRoute("notes", level="task")
    assert route("agent", "moment") == StorageRoute("memory", kind="working")


def test_other_words_are_named():
    with pytest.raises(BudgetError):
        route("somebody", "lasting")
    with pytest.raises(BudgetError):
        route("agent", "for ever")
