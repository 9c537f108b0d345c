import pytest
from tests.neutral import A, U, view

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.snapshot.query_terms import Focus
from foldline.summary.summarize import Summarize
from foldline.values.handles import handles
from foldline.values.protect import is_snapshot


@pytest.mark.parametrize(
    ("focus", "line", "matches"),
    [
        ("keep src/db.py", "edited src/db.py today", True),
        ("the database migration", "Migration 12 of the DATABASE ran", True),
        ("the database migration", "listening on port 80", False),
        ("keep what was said about it", "what was said about this", False),
        ("数据库迁移", "第三步：迁移数据库表", True),
        ("数据库迁移", "监听端口", False),
        ("", "anything", False),
        ("!!! ???", "anything", False),
    ],
)
def test_a_line_matches_what_is_meant(focus, line, matches):
    assert (Focus.of(focus).match(line) > 0) is matches


def test_a_name_counts_more_than_a_word_and_nothing_more_than_one():
    focus = Focus.of("migration of src/db.py and src/schema.py")
    assert focus.match("src/db.py") > focus.match("a migration")
    assert focus.match("migration src/db.py src/schema.py") == 1.0


def test_no_focus_is_false():
    assert not Focus.of("and the")
    assert Focus.of("port 48113")


def snapshot(focus):
    lines = "\n".join(f"part {n} reads src/part_{n}.py and lib/tool_{n}.py" for n in range(300))
    said = A(f"{lines}\nThe migration is kept in cold storage.\n{lines}")
    found = view(U("task"), said, A("end"), U("next"))
    context = CompactionContext(400, 400, 400, handles(found.messages), focus=focus)
    plan = drive(Summarize().propose(found, context), lambda _: None)
    return next(m.text for m in found.after(plan.edits).messages if is_snapshot(m))


@pytest.mark.requirement("K19", "J6")
def test_the_embedded_summary_keeps_lines_that_match_the_focus():
    wanted = "The migration is kept in cold storage."
    assert wanted not in snapshot("")
    assert wanted in snapshot("everything about the migration")
