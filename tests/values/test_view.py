from tests.neutral import COUNTER, A, Quarters, T, U, c, log, view

from foldline.frozen import replace
from foldline.values.edits import Drop, Rewrite
from foldline.values.groups import group
from foldline.values.messages import Message, Thinking
from foldline.values.tokens import TokenCounter
from foldline.values.view import View
from foldline.values.vocabulary import Vocabulary


def test_a_view_counts_each_message_and_their_sum():
    found = view(U("abcd"), A("abcdefgh"))
    assert found.counts == (4 + 1, 4 + 2)
    assert found.tokens == 11


def test_only_changed_messages_are_counted_again():
    class Counting(Quarters):
        counted = 0

        def count(self, text):
            type(self).counted += 1
            return super().count(text)

    before = View.of(log(U("x" * 100), A("y" * 100), U("z")), TokenCounter(Counting()))
    asked = Counting.counted
    after = before.after([Rewrite(before.messages[1].id, 0, "short", "truncate")])
    assert Counting.counted == asked + 1
    assert after.tokens == COUNTER.messages(after.messages)


def test_without_edits_the_view_is_the_same_object():
    before = view(U("x"))
    assert before.after([]) is before


def test_the_original_is_available_behind_a_stub():
    before = view(U("t"), A(c("1")), T("1", "long text"))
    after = before.after([Rewrite(before.messages[2].id, 0, "[stub]", "clear")])
    assert after.messages[2].results[0].text == "[stub]"
    assert after.original(2).results[0].text == "long text"


def test_omitted_parts_are_paired_again():
    before = view(U("t"), A(c("1")), T("1", "long text"), A("a"))
    assert not before.pairing.open
    after = before.after([Rewrite(before.messages[2].id, 0, None, "repair")])
    assert after.pairing.open
    assert not after.history_pairing.open


def test_protected_and_running_groups_cannot_be_folded():
    found = view(U("t"), A(c("1")), T("1"), A("a"), U("u"), A(c("2")))
    assert [group.members for group in found.foldable()] == [(1, 2), (3,)]


def test_positions_and_names_follow_the_messages():
    found = view(U("see src/app.py"), A("ok"))
    after = found.after([Drop((found.messages[0].id,), "window")])
    assert after.positions == {found.messages[1].id: 0}
    assert "src/app.py" in after.names


def test_a_maintained_vocabulary_is_used():
    vocabulary = Vocabulary.of([U("see lib/known.py")])
    found = View.of(log(U("t")), COUNTER, vocabulary=vocabulary)
    assert set(found.names) == set(found.likely_names) == {"lib/known.py"}


def test_what_is_found_once_is_known_to_all_views_of_a_log():
    asked = []
    found = view(U("t"), A("ok"))
    assert found.once(asked.append)("a") is None
    after = found.after([Drop((found.messages[0].id,), "window")])
    assert after.once(asked.append)("a") is None
    assert asked == ["a"]


def test_new_texts_keep_what_depends_on_parts_and_nothing_that_depends_on_texts():
    found = view(
        U("Mend the parser."), A(c("1")), T("1"), U("And the lexer."), U("Go on."), A("Done.")
    )
    pairing, groups, protected = found.pairing, found.groups, found.protected
    after = found.after([Rewrite(found.messages[4].id, 0, "/compact", "test")])
    assert after.pairing is pairing
    assert after.groups is groups
    fresh = replace(after, messages=after.messages)
    assert after.protected == fresh.protected != protected


def test_a_text_in_place_of_reasoning_is_grouped_as_a_text():
    found = view(U("Go."), Message("assistant", (Thinking("hm"),), id="r"), A("Done."), U("And?"))
    joined = found.groups
    after = found.after([Rewrite(found.messages[1].id, 0, "hm", "test")])
    assert after.groups == group(after.messages) != joined
