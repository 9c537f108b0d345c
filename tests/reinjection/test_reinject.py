import json

import pytest
from tests.neutral import COUNTER, A, T, U, c, view
from tests.reinjection.whole_log import newest_plan

from foldline.core.asks import drive
from foldline.core.budget import Budget
from foldline.core.retention_settings import FileSettings
from foldline.core.strategy import CompactionContext, Plan, Policy, Rung
from foldline.engine.compaction import compact_view
from foldline.reinjection.attachment import HEADER, FoundFile, visible_paths
from foldline.reinjection.reinject import KIND, Sources, reserve
from foldline.repair.repair import repair
from foldline.strategies.clear import Clear
from foldline.strategies.window import Window
from foldline.values.edits import Fold, Insert, apply
from foldline.values.handles import handles
from foldline.values.messages import Message, Text
from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text
from foldline.values.tokens import MESSAGE_TOKENS

SETTINGS = FileSettings(root="/repo")
LONG = "several words of a result " * 40
CLEAR = Policy("clear", (Rung(Clear(keep=1), 0.0),))


class Folding:
    """A strategy that folds everything that may be folded into a small snapshot."""

    name = "fold"

    def propose(self, view, _need):
        yield from ()
        gone = tuple(view.messages[i].id for group in view.foldable() for i in group.members)
        snapshot = Message("user", (Text(f"{SNAPSHOT_HEADER}] nothing"),), id="f" * 32)
        return Plan((Fold(gone, snapshot),)) if gone else Plan()


FOLD = Policy("fold", (Rung(Folding(), 0.0),))


def step(number, tool, *rest, text=LONG, **arguments):
    return A(c(f"{tool}{number}", tool, json.dumps(arguments))), T(f"{tool}{number}", text, tool)


def reading(*names, text=LONG):
    return [m for n, name in enumerate(names) for m in step(n, "read", path=name, text=text)]


def tasks(*statuses, number=0):
    items = [{"content": f"step {n}", "status": status} for n, status in enumerate(statuses)]
    return step(number, "todo_write", text="ok", todos=items)


def disk(**texts):
    """Return a reader for files with these texts; None is a deleted file."""

    def read(touched, _settings):
        named = {name.replace("_", "."): text for name, text in texts.items()}
        return tuple(
            FoundFile(
                access,
                "deleted" if named[access.path] is None else "text",
                named[access.path] or "",
            )
            for access in touched
            if access.path in named
        )

    return read


def compacted(found, policy=FOLD, *, budget=None, settings=SETTINGS, read=None):
    budget = budget or Budget(20_000, 10_000, 20_000)
    context = CompactionContext(
        min(500, budget.target), budget.limit, budget.scale, handles(found.messages)
    )
    # The attachment uses the target of the budget, the ladder a smaller one.
    outcome = drive(
        compact_view(found, budget, policy, context, Sources(settings, read)), lambda _: None
    )
    if outcome.status == "compacted":
        assert outcome.view.tokens <= budget.limit
        assert outcome.view.tokens < found.tokens
        assert apply(found.messages, outcome.edits) == outcome.view.messages
        assert repair(outcome.view.messages, found.dialect) == ()
    return outcome


def put_back(outcome):
    return [message for message in outcome.view.messages if message.is_attachment()]


def attached_names(outcome):
    """Return the names of the files that were put back, in order."""
    text = "".join(message.text for message in put_back(outcome))
    return [line.split('"')[1] for line in text.split("\n") if line.startswith("File ")]


HISTORY = (U("task"), *reading("a", "b", "c", "d", "e", "f", "g"), A("done"), U("go on"))
DISK = {name: f"content of {name}" for name in "abcdefg"}


@pytest.mark.requirement("C15", "K29", "K30")
def test_the_newest_files_come_back_newest_first_and_no_more_than_the_count():
    outcome = compacted(view(*HISTORY), read=disk(**DISK))
    assert attached_names(outcome) == ["g", "f", "e", "d", "c"]
    few = FileSettings(root="/repo", count=2)
    assert attached_names(compacted(view(*HISTORY), settings=few, read=disk(**DISK))) == ["g", "f"]


@pytest.mark.requirement("K30")
def test_a_file_that_does_not_fit_is_skipped_and_the_next_one_is_used():
    giant = DISK | {"g": "x" * 40_000, "f": "line\n" * 8_000}
    settings = FileSettings(root="/repo", file_tokens=500, total_tokens=900)
    outcome = compacted(view(*HISTORY), settings=settings, read=disk(**giant))
    assert attached_names(outcome) == ["g", "f", "e", "d", "c", "b"]
    text = put_back(outcome)[0].text
    assert "too large to show here" in text
    assert "lines 1-" in text
    assert "content of b" in text


@pytest.mark.requirement("K30")
def test_a_file_of_exactly_the_cap_is_shown_whole_and_one_token_more_is_not():
    for tokens, extent in ((200, "(whole"), (201, "(lines")):
        texts = {"g": "abc\n" * tokens}
        settings = FileSettings(root="/repo", file_tokens=200)
        outcome = compacted(view(*HISTORY), settings=settings, read=disk(**texts))
        assert extent in put_back(outcome)[0].text


@pytest.mark.requirement("C15")
def test_all_files_together_stay_within_the_budget_and_within_the_share_of_the_target():
    large = {name: f"{name} words\n" * 500 for name in "abcdefg"}
    total = FileSettings(root="/repo", total_tokens=1_700)
    share = FileSettings(root="/repo", share=0.17)
    history = (U("task"), *HISTORY[1:], *step(9, "bash", text=LONG * 60), A("ok"), U("go on"))
    for settings in (total, share):
        outcome = compacted(view(*history), settings=settings, read=disk(**large))
        assert 800 < COUNTER.text(put_back(outcome)[0].text) <= 1_750


@pytest.mark.requirement("C15")
def test_nothing_is_read_without_a_root_and_nothing_put_back_for_a_count_of_none():
    def never(*_):
        raise AssertionError("a file was read")

    assert put_back(compacted(view(*HISTORY), settings=FileSettings(), read=never)) == []
    off = FileSettings(root="/repo", count=0)
    assert put_back(compacted(view(*HISTORY), settings=off, read=never)) == []


@pytest.mark.requirement("K29")
def test_files_still_in_view_are_not_put_back():
    history = (U("task"), *reading("a", "b"))
    outcome = compacted(view(*history), CLEAR, read=disk(**DISK))
    assert attached_names(outcome) == ["a"]


@pytest.mark.requirement("K29")
def test_the_newest_version_comes_back_never_an_older_one_nor_a_stub():
    history = (
        U("task"),
        *step(1, "read", path="a", text="version one\n" * 300),
        *step(2, "read", path="a", text="version two\n" * 300),
        A("ok"),
        U("go on"),
    )
    outcome = compacted(view(*history), read=disk(a="version two\n" * 300))
    text = put_back(outcome)[0].text
    assert text.count("version two") == 300
    assert "version one" not in text
    assert "[Cleared" not in text
    assert "unchanged since you last saw it" in text


def test_a_deleted_file_is_named_and_does_not_count():
    settings = FileSettings(root="/repo", count=1)
    outcome = compacted(view(*HISTORY), settings=settings, read=disk(**DISK | {"g": None}))
    assert attached_names(outcome) == ["g", "f"]
    assert 'File "g": it is no longer on disk.' in put_back(outcome)[0].text


# --- its position --------------------------------------------------------------------------


@pytest.mark.requirement("K31")
def test_the_attachment_is_a_user_message_between_the_snapshot_and_the_latest_words():
    outcome = compacted(view(*HISTORY), read=disk(**DISK))
    roles = [(m.role, m.is_attachment()) for m in outcome.view.messages]
    assert roles == [("user", False), ("user", False), ("user", True), ("user", False)]
    assert outcome.view.messages[-1].text == "go on"
    assert isinstance(outcome.edits[-1], Insert)
    assert outcome.edits[-1].kind == put_back(outcome)[0].origin == KIND


@pytest.mark.requirement("K31")
def test_without_a_snapshot_the_attachment_precedes_unread_results():
    parallel = A(c("x", "read", '{"path": "x"}'), c("y", "bash"))
    history = (U("task"), *reading("a", "b", "c"), parallel, T("x", LONG), T("y", LONG))
    outcome = compacted(view(*history), CLEAR, read=disk(**DISK))
    messages = outcome.view.messages
    at = messages.index(put_back(outcome)[0])
    assert messages[at + 1] is outcome.view.messages[-3]
    assert messages[at + 1].calls == parallel.calls


def test_the_attachment_never_separates_a_running_call_from_its_result():
    running = A(c("x", "bash"), c("y", "bash"))
    history = (U("task"), *reading("a", "b", "c"), running, T("x", LONG))
    outcome = compacted(view(*history), CLEAR, read=disk(**DISK))
    messages = outcome.view.messages
    assert messages.index(put_back(outcome)[0]) < len(messages) - 2
    assert messages[-2].calls == running.calls


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_the_attachment_has_a_place_in_every_dialect(dialect):
    for policy in (FOLD, CLEAR):
        outcome = compacted(view(*HISTORY, dialect=dialect), policy, read=disk(**DISK))
        assert len(put_back(outcome)) == 1


def test_without_room_for_an_attachment_the_outcome_is_unchanged():
    found = view(*HISTORY)
    tight = Budget(40, 40, 20_000)
    outcome = compacted(found, budget=tight, read=disk(**DISK))
    assert outcome.status == "compacted"
    assert put_back(outcome) == []


def test_messages_that_must_stay_are_not_cut_for_an_attachment():
    found = view(U("what the user asked for " * 100), *HISTORY[1:])
    mine = Sources(SETTINGS, disk(**dict.fromkeys("abcdefg", "words\n" * 400))).find(found)
    around = MESSAGE_TOKENS + found.counter.text(seal_text(HEADER))
    assert reserve(mine, found, 10_000) == 3_000 + around
    assert reserve(mine, found, 1_000) == (1_000 - sum(found.counts[i] for i in (0, 16))) // 2
    assert reserve(mine, found, 500) == 0


# --- again ---------------------------------------------------------------------------------


@pytest.mark.requirement("K31")
def test_the_next_compaction_replaces_the_attachment():
    first = compacted(view(*HISTORY), read=disk(**DISK))
    more = (*first.view.messages, *reading("h", "i"), A("done"), U("and now"))
    again = view(*(Message(m.role, m.parts, origin=m.origin) for m in more))
    texts = DISK | {"h": "content of h", "i": "content of i", "g": "content of g, new"}
    outcome = compacted(again, read=disk(**texts))
    assert len(put_back(outcome)) == 1
    assert attached_names(outcome)[:2] == ["i", "h"]
    assert outcome.rungs[0].name == "detach"


def test_an_attachment_is_not_removed_without_need():
    first = compacted(view(*HISTORY), read=disk(**DISK))
    budget = Budget(20_000, 10, 20_000)
    again = view(*(Message(m.role, m.parts, origin=m.origin) for m in first.view.messages))
    outcome = compacted(again, Policy("window", (Rung(Window(keep=9), 0.0),)), budget=budget)
    assert outcome.status == "unchanged"
    assert "put back" in outcome.reason


# --- the plan ------------------------------------------------------------------------------


@pytest.mark.requirement("H16", "K31")
def test_the_newest_plan_survives_word_for_word():
    history = (
        U("task"),
        *tasks("pending", "pending"),
        *tasks("completed", "in_progress", "pending", number=1),
        *reading("a", "b"),
        A("done"),
        U("go on"),
    )
    outcome = compacted(view(*history))
    text = put_back(outcome)[0].text
    assert "(1/3 done" in text
    assert "- [completed] step 0\n- [in_progress] step 1\n- [pending] step 2" in text
    assert text.count("step 0") == 1


@pytest.mark.requirement("H16")
def test_a_plan_in_view_or_emptied_or_refused_is_not_put_back():
    quoted = "- [pending] step 0\n - [pending] step 1"

    class Quoting(Folding):
        def propose(self, view, context):
            made = yield from super().propose(view, context)
            (fold,) = made.edits
            snapshot = Message("user", (Text(f"{SNAPSHOT_HEADER}]\nabc {quoted}"),), id="f" * 32)
            return Plan((Fold(fold.messages, snapshot),))

    plans = (*tasks("pending", "pending"), *reading("a"), A("done"), U("go on"))
    assert put_back(compacted(view(U("t"), *plans), Policy("q", (Rung(Quoting(), 0.0),)))) == []
    assert put_back(compacted(view(U("t"), *tasks("pending"), *reading("a", "b")), CLEAR)) == []
    emptied = (*tasks("pending"), *tasks(number=1), *reading("a", "b"), A("done"), U("go on"))
    assert put_back(compacted(view(U("t"), *emptied))) == []
    asked = step(5, "todo", action="list")
    assert newest_plan(view(U("t"), *tasks("pending"), *asked).messages) is not None
    refused = T("todo_write1", "two are in progress", "todo_write", is_error=True)
    wrong = tasks("in_progress", "in_progress", number=1)[0]
    kept = newest_plan(view(U("t"), *tasks("pending"), wrong, refused).messages)
    assert kept.lines == ("- [pending] step 0",)


def test_open_items_of_a_long_plan_come_first():
    statuses = ["completed"] * 20 + ["in_progress", "pending"]
    history = (U("task"), *tasks(*statuses), *reading("a", "b", "c"), A("done"), U("go on"))
    outcome = compacted(view(*history), budget=Budget(2_000, 1_000, 2_000))
    text = put_back(outcome)[0].text
    assert "- [in_progress] step 20\n- [pending] step 21" in text
    assert "completed" not in text


# --- files out of view ---------------------------------------------------------------------


@pytest.mark.requirement("F71")
def test_the_outcome_names_the_files_removed_from_view_and_counts_the_unknown():
    history = (
        U("task"),
        *reading("a", "b", "c"),
        *step(9, "read", where="?"),
        A("ok"),
        U("go on"),
    )
    outcome = compacted(view(*history), read=disk(c="content of c"))
    assert outcome.evicted.files == ("b", "a")
    assert outcome.evicted.unknown == 1
    found = Sources(SETTINGS).find(view(*history)).accesses
    assert visible_paths(view(*history), found) == {"a", "b", "c"}
    assert visible_paths(outcome.view, found) == {"c"}
