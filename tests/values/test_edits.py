from hypothesis import given
from hypothesis import strategies as st
from tests.neutral import A, T, U, c, log, words

from foldline.values.edits import Drop, Fold, Insert, Move, Rewrite, apply, following, rewrite_part
from foldline.values.messages import Media, Message, Omitted, Text, ToolResult

MESSAGES = log(U("task"), A(c("1")), T("1", "long"), A("done"), U("next"))
IDS = [message.id for message in MESSAGES]


def view(*edits):
    return apply(MESSAGES, edits)


def test_without_edits_the_view_is_the_log_itself():
    assert all(a is b for a, b in zip(view(), MESSAGES, strict=True))


def test_a_rewrite_replaces_the_text_and_nothing_else():
    after = view(Rewrite(IDS[2], 0, "[short]", "clear", "h"))
    assert after[2].results[0].text == "[short]"
    assert after[2].results[0].call_id == "1"
    assert MESSAGES[2].results[0].text == "long"
    assert all(after[i] is MESSAGES[i] for i in (0, 1, 3, 4))


def test_a_rewrite_without_text_omits_the_part_and_keeps_positions():
    two = log(Message("user", (Text("a"), Text("b"))))
    after = apply(
        two, [Rewrite(two[0].id, 0, None, "clear"), Rewrite(two[0].id, 1, "c", "truncate")]
    )
    assert after[0].parts == (Omitted("clear"), Text("c"))


def test_a_rewrite_of_call_arguments_keeps_the_call():
    after = view(Rewrite(IDS[1], 0, '{"a":1}', "truncate"))
    assert after[1].calls[0].arguments == '{"a":1}'
    assert after[1].calls[0].id == "1"


def test_media_in_a_result_are_kept_only_with_keep_media():
    image = Media("image")
    message = Message("tool", (ToolResult("1", (Text("long"), image)),), id="x")
    kept = rewrite_part(message, Rewrite("x", 0, "s", "truncate", keep_media=True))
    gone = rewrite_part(message, Rewrite("x", 0, "s", "clear"))
    assert kept.results[0].content == (Text("s"), image)
    assert gone.results[0].content == (Text("s"),)


def test_a_drop_omits_messages():
    assert words(view(Drop((IDS[1], IDS[2]), "window"))) == ["U:task", "A:done", "U:next"]


def test_a_fold_puts_the_snapshot_at_the_first_folded_position():
    snapshot = Message("user", (Text("sum"),), id="s")
    after = view(Fold((IDS[1], IDS[3]), snapshot))
    assert words(after) == ["U:task", "U:sum", "T(1)", "U:next"]


@given(st.sets(st.sampled_from(IDS), min_size=1), st.sampled_from(("s", *IDS)))
def test_a_fold_of_most_messages_equals_stepwise_folding(folded, number):
    """A fold in one pass equals a fold step by step."""
    snapshot = Message("user", (Text("sum"),), id=number)
    expected, stands = [], number in {*IDS} - folded
    for message in MESSAGES:
        if message.id not in folded:
            expected.append(message)
        elif not stands:
            expected.append(snapshot)
            stands = True
    assert view(Fold(tuple(folded), snapshot)) == tuple(expected)
    moved = Move(IDS[1], IDS[0])  # creates a separate order, though the same
    assert view(moved, Fold(tuple(folded), snapshot)) == tuple(expected)


def test_a_rewrite_before_a_fold_is_discarded():
    rewrite = Rewrite(IDS[2], 0, "[short]", "clear", "h")
    snapshot = Message("user", (Text("sum"),), id="s")
    assert words(view(rewrite, Fold(tuple(IDS[1:4]), snapshot))) == ["U:task", "U:sum", "U:next"]


def test_an_insert_follows_its_message_or_the_start():
    extra = Message("user", (Text("new"),), id="n")
    assert words(view(Insert(IDS[0], extra)))[:2] == ["U:task", "U:new"]
    assert words(view(Insert("", extra)))[0] == "U:new"


def test_a_move_changes_the_position_of_one_message_only():
    assert words(view(Move(IDS[4], IDS[0]))) == ["U:task", "U:next", "A{1}", "T(1)", "A:done"]


def test_edits_of_messages_not_in_the_view_have_no_effect():
    gone = Drop((IDS[2],), "window")
    late = (
        Rewrite(IDS[2], 0, "x", "clear"),
        Rewrite(IDS[0], 9, "x", "clear"),
        Insert(IDS[2], Message("user", (Text("new"),), id="n")),
        Move(IDS[2], IDS[0]),
        Move(IDS[0], IDS[0]),
        Fold((IDS[2],), Message("user", (Text("sum"),), id="s")),
        Drop((IDS[2], "unknown"), "window"),
    )
    assert view(gone, *late) == view(gone)


def test_omitting_the_newest_edits_is_undo():
    first = Rewrite(IDS[2], 0, "[short]", "clear")
    second = Drop((IDS[3],), "window")
    assert view(first, second) != view(first)
    assert apply(view(first), [second]) == view(first, second)


def test_a_message_is_followed_through_repairs():
    note, beside = Message("user", (), id="note"), Message("user", (), id="beside")
    edits = [
        Fold((IDS[2],), note, "repair"),
        Insert("note", beside),
        Fold((IDS[3],), Message("user", (), id="other"), "summarize"),
    ]
    assert following(frozenset({IDS[2], IDS[3]}), edits) == {IDS[2], "note", "beside", IDS[3]}
    assert following(frozenset(), edits) == frozenset()
