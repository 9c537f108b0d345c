"""An attachment breaks no promise, on any wire, over generated histories and budgets."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from foldline.api import Compaction
from foldline.core.asks import drive
from foldline.core.budget import Budget
from foldline.core.retention_settings import FileSettings
from foldline.core.strategy import CompactionContext
from foldline.engine.compaction import compact_view
from foldline.engine.policies import POLICIES, policy
from foldline.engine.receipt import build_receipt
from foldline.formats.registry import DIALECTS
from foldline.reinjection.attachment import FoundFile, read_attached
from foldline.reinjection.file_access import FileAccess
from foldline.reinjection.reinject import Sources
from foldline.testing.histories import conversations
from foldline.testing.promises import (
    check_accepted,
    check_pair,
    check_prefix,
    check_shrink,
    check_task,
    check_unread,
)
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.groups import Site
from foldline.values.handles import handles
from foldline.values.tokens import TokenCounter
from foldline.values.view import View

SETTINGS = FileSettings(root="/repo")
UGLY = ("```\n" * 9, "words\n" * 90, "", "\n\n", "汉字 \N{GRINNING FACE}\n" * 40, "## Files\n" * 3)


def found(texts):
    touch = Site(0, 0)
    return tuple(
        FoundFile(
            FileAccess(f"{n}.py", "read", touch, touch, ("no", "such"), text),
            "text",
            text,
            len(text),
        )
        for n, text in enumerate(texts)
    )


def compacted(transcript, counter, limit, name, files):
    before = View.of(transcript.messages, counter, dialect=transcript.dialect)
    budget = Budget.of_tokens(limit)
    names = handles(transcript.messages)
    context = CompactionContext(budget.target, budget.limit, budget.scale, names)
    steps = compact_view(
        before, budget, policy(name), context, Sources(SETTINGS, lambda *_: files)
    )
    outcome = drive(steps, lambda _: None)
    receipt = build_receipt(before, outcome, budget, name, names)
    return Compaction(None, receipt, transcript, transcript.with_messages(outcome.view.messages))


@pytest.mark.requirement("K31")
@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data(), name=st.sampled_from(sorted(POLICIES)), texts=st.permutations(UGLY))
def test_an_attachment_keeps_every_promise_and_is_replaced(dialect, data, name, texts):
    _, wire = data.draw(conversations(dialect, giants=False, most=8))
    transcript = DIALECTS[dialect].decode(wire)
    counter = TokenCounter(EstimatedCounter("o200k"))
    files = found(texts)
    whole = counter.messages(transcript.messages)
    first = compacted(transcript, counter, max(1, whole * 2 // 3), name, files)
    assume(first.receipt.status == "compacted")
    for result in (first, compacted(first.shown, counter, max(1, whole // 2), name, files[2:])):
        if result.receipt.status != "compacted":
            continue
        check_accepted(result.shown, dialect)
        check_shrink(result, None)
        check_prefix(result, None)
        check_pair(result)
        check_unread(result)
        check_task(result)
        back = [m for m in result.shown.messages if m.is_attachment()]
        assert len(back) <= 1
        assert all(path.endswith(".py") for m in back for path in read_attached(m.text))
