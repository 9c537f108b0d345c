from tests.neutral import A, T, U, c, view

from foldline.core.budget import Budget
from foldline.core.strategy import Outcome, RungReport
from foldline.engine.receipt import build_receipt, recallable
from foldline.values.edits import Drop, Fold, Insert, Rewrite
from foldline.values.handles import handles
from foldline.values.messages import Message, Text

BEFORE = view(U("task"), A(c("1", "read_file")), T("1", "long" * 50, "read_file"), A("done"))
IDS = [message.id for message in BEFORE.messages]
NAMES = handles(BEFORE.messages)


def receipt(*edits, status="compacted"):
    outcome = Outcome(status, "because", BEFORE.after(edits), edits, (RungReport("r", "applied"),))
    return build_receipt(BEFORE, outcome, Budget.of_tokens(99), "mine", NAMES, ("careful",))


def test_a_receipt_contains_the_measured_values():
    found = receipt(Drop((IDS[1], IDS[2]), "window"))
    assert (found.tokens_before, found.tokens_after) == (BEFORE.tokens, 5 + 5)
    assert (found.messages_before, found.messages_after) == (4, 2)
    assert (found.budget, found.policy, found.counter) == (99, "mine", "quarters")
    assert found.warnings == ("careful",)


def test_the_kept_prefix_ends_before_the_first_changed_message():
    assert receipt(Rewrite(IDS[2], 0, "s", "clear", NAMES[IDS[2]])).kept_prefix == 2
    assert receipt(Insert("", Message("user", (Text("x"),), id="n"))).kept_prefix == 0
    assert receipt(status="unchanged").kept_prefix == 4


def recalled(*edits):
    return recallable(edits, {m.id: m for m in BEFORE.messages}, NAMES)


def test_everything_removed_from_view_is_described():
    assert recalled(Rewrite(IDS[2], 0, "s", "clear")) == {NAMES[IDS[2]]: "result of read_file"}
    assert recalled(Drop((IDS[1],), "window")) == {
        NAMES[IDS[1]]: "assistant message calling read_file"
    }


def test_a_snapshot_and_each_message_in_it_are_recalled():
    snapshot = Message("user", (Text("sum"),), id="f" * 32)
    found = recalled(Fold((IDS[1], IDS[2]), snapshot))
    assert found["ffffff"] == "the 2 messages of a snapshot"
    assert {NAMES[IDS[1]], NAMES[IDS[2]]} < found.keys()


def test_a_message_that_a_repair_replaced_is_recalled_unchanged():
    note = Message("user", (Text("note"),), id="f" * 32)
    assert recalled(Fold((IDS[2],), note, "repair")) == {NAMES[IDS[2]]: "result of read_file"}


def test_unknown_messages_are_not_recalled():
    assert recalled(Drop(("unknown",), "window"), Rewrite("unknown", 0, "s", "clear")) == {}


def test_a_tool_whose_name_is_a_token_is_not_named_in_a_receipt():
    token = "ghp_" + "0123456789abcdefghij"
    before = view(U("task"), A(c("1", token)), T("1", "long" * 50, token))
    first, second = (message.id for message in before.messages[1:])
    edits = (Rewrite(second, 0, "s", "clear"), Drop((first,), "window"))
    outcome = Outcome(
        "compacted",
        f"cleared {token}",
        before.after(edits),
        edits,
        (RungReport("r", "applied", 0, token),),
    )
    found = build_receipt(before, outcome, Budget.of_tokens(99), "mine", {}, (f"no {token}",))
    assert token not in str(found.to_dict())
    assert list(found.recall.values()) == [
        "result of [redacted]",
        "assistant message calling [redacted]",
    ]
