"""Prepared edits are valid only for the view they were prepared for."""

from dataclasses import replace

import pytest

from foldline.core.prepared import MemorySettings, Prepared, fingerprint
from foldline.errors import BudgetError
from foldline.values.edits import Fold, Insert
from foldline.values.identity import identify
from foldline.values.messages import Message, Text

LOG = identify(Message("user", (Text(f"message {number}"),)) for number in range(5))
SNAPSHOT = Message("user", (Text("what happened"),), id="f" * 32, origin="snapshot")
FOLD = Fold(tuple(message.id for message in LOG[:3]), SNAPSHOT)
PREPARED = Prepared(LOG[:4], (FOLD,), "openai-chat", 4, 10.0)


@pytest.mark.requirement("K27", "C10")
def test_prepared_edits_fit_their_view_with_any_later_messages():
    assert PREPARED.misfit(LOG[:4], "openai-chat") == ""
    assert PREPARED.misfit(LOG, "openai-chat") == ""
    assert PREPARED.until == LOG[3].id


@pytest.mark.requirement("K27")
def test_equal_messages_of_other_identity_match():
    again = tuple(replace(message, raw={"read": "again"}) for message in LOG)
    assert PREPARED.misfit(again, "openai-chat") == ""


@pytest.mark.requirement("K27")
@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (LOG[:3], "covers 4 messages, the view has 3"),
        (LOG[1:], "has changed in the view"),
        ((LOG[0], replace(LOG[1], pinned=True), *LOG[2:]), "has changed in the view"),
        ((LOG[0], replace(LOG[1], parts=(Text("cut"),)), *LOG[2:]), LOG[1].id[:12]),
        ((LOG[0], replace(LOG[1], id="0" * 32), *LOG[2:]), "has changed in the view"),
        ((), "the view has 0"),
    ],
)
def test_a_misfit_has_a_reason(shown, words):
    assert words in PREPARED.misfit(shown, "openai-chat")


@pytest.mark.requirement("K27")
def test_the_rules_of_another_provider_are_another_history():
    assert "openai-chat" in PREPARED.misfit(LOG, "anthropic")


def test_only_folds_of_a_summary_count_as_folds():
    mended = replace(FOLD, kind="repair")
    prepared = replace(PREPARED, edits=(mended, Insert("", SNAPSHOT), FOLD))
    assert prepared.folds == (FOLD,)


@pytest.mark.requirement("K28")
def test_the_fingerprint_covers_everything_in_the_view():
    plain = fingerprint(LOG, "openai-chat")
    cut = replace(LOG[1], parts=(Text("cut"),), intact=False)
    others = [
        fingerprint(LOG[:4], "openai-chat"),
        fingerprint(LOG, "anthropic"),
        fingerprint((LOG[1], LOG[0], *LOG[2:]), "openai-chat"),
        fingerprint((replace(LOG[0], pinned=True), *LOG[1:]), "openai-chat"),
        fingerprint((LOG[0], cut, *LOG[2:]), "openai-chat"),
        fingerprint((SNAPSHOT, *LOG[1:]), "openai-chat"),
        fingerprint((replace(SNAPSHOT, parts=(Text("else"),)), *LOG[1:]), "openai-chat"),
    ]
    assert len({plain, *others}) == 8
    assert fingerprint(LOG, "openai-chat") == plain


@pytest.mark.parametrize("settings", [{"enabled": 1}, {"every": 0}, {"every": 1.5}])
@pytest.mark.requirement("C9")
def test_invalid_settings_are_rejected(settings):
    with pytest.raises(BudgetError, match=r"memory\."):
        MemorySettings(**settings)


@pytest.mark.requirement("C9")
def test_session_memory_is_off_by_default():
    assert not MemorySettings().enabled
