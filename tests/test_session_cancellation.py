"""A cancellation at any point leaves a session as it was before, or as after, never in between."""

import asyncio

import pytest

from foldline import Config, Reply, Session
from foldline.core.asks import Ask
from foldline.core.prepared import MemorySettings
from foldline.core.strategy import Plan, Policy, Rung
from foldline.stores.memory import MemoryStore
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import Fold, apply
from foldline.values.identity import derived_id
from foldline.values.messages import Message, Text

COUNTER = EstimatedCounter("o200k")
ASKS = 4
FILLER = "several words of filler " * 20


class Curious:
    """Asks several times before it folds anything."""

    name = "curious"

    def propose(self, view, _need):
        replies = []
        for number in range(ASKS):
            reply = yield Ask(f"question {number}", 100)
            replies.append(reply.text)
        folded = tuple(view.messages[i].id for group in view.foldable() for i in group.members)
        text = Text("told: " + " ".join(replies))
        snapshot = Message("user", (text,), id=derived_id(*folded), origin="snapshot")
        return Plan((Fold(folded, snapshot),))


CURIOUS = Policy("curious", (Rung(Curious(), 0.8),))


def make_message(number):
    role = "user" if number % 2 == 0 else "assistant"
    return {"role": role, "content": f"{number}: {FILLER}"}


def opened(store, **changes):
    settings = {"policy": CURIOUS, "counter": COUNTER, "format": "openai-chat"}
    session = Session.open(None, "s", store=store, window=8_000, **{**settings, **changes})
    if not session.messages:
        session.extend(make_message(number) for number in range(70))
    return session


def known(session):
    """Everything that there is to know about a session, in memory and in its store."""
    state = session._state
    stored = state.settings.store.load("s")
    return (
        tuple(message.raw["content"] for message in session.messages),
        tuple(state.current_view.messages),
        session.tokens,
        session.receipts,
        stored.batches,
        len(stored.messages),
    )


async def answer(_ask):
    await asyncio.sleep(0)
    return Reply("an answer")


@pytest.mark.requirement("C6", "F90")
@pytest.mark.parametrize("stop", range(ASKS))
def test_a_compaction_cancelled_at_any_request_changes_nothing_and_the_next_succeeds(stop):
    async def main():
        reached = asyncio.Event()
        asked = []

        async def stopping(ask):
            asked.append(ask)
            if len(asked) == stop + 1:
                reached.set()
                await asyncio.Event().wait()
            return await answer(ask)

        session = opened(MemoryStore(), summarizer=stopping)
        before = known(session)
        compacting = asyncio.ensure_future(session.acompact())
        await reached.wait()
        compacting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await compacting
        assert known(session) == before
        assert (await session.acompact()).status == "compacted"

    asyncio.run(main())


async def turns_of_the_loop(number):
    for _ in range(number):
        await asyncio.sleep(0)


@pytest.mark.requirement("F90", "F91", "K20")
@pytest.mark.parametrize("turns", [*range(12), 20, 40, 80, 160, 320])
def test_a_cancellation_at_any_step_of_the_loop_leaves_the_old_or_the_new_state(turns):
    async def main():
        store = MemoryStore()
        session = opened(store, summarizer=answer)
        before = known(session)
        work = asyncio.ensure_future(session.acompact())
        await turns_of_the_loop(turns)
        work.cancel()
        await asyncio.wait([work])
        after = known(session)

        batches = session._state.history.batches
        assert after == before or [batch.kind for batch in batches] == ["compaction"]
        shown = apply(session.messages, session._state.history.edits())
        assert tuple(message.id for message in shown) == after[1]
        # Another process sees the same.
        assert known(opened(store)) == after

    asyncio.run(main())


@pytest.mark.requirement("F90", "K20")
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 20, 80])
def test_a_cancelled_append_is_recorded_whole_or_not_at_all(turns):
    async def main():
        store = MemoryStore()
        session = opened(store)
        work = asyncio.ensure_future(
            session.aextend([make_message(70), make_message(71), make_message(72)])
        )
        await turns_of_the_loop(turns)
        work.cancel()
        await asyncio.wait([work])
        assert len(session.messages) in (70, 73)
        assert known(opened(store)) == known(session)
        await session.aappend(make_message(99))
        assert session.messages[-1].raw == make_message(99)

    asyncio.run(main())


@pytest.mark.requirement("F85", "K20")
@pytest.mark.parametrize("memory", [False, True])
def test_concurrent_appends_of_many_tasks_are_kept_in_order(memory):
    config = Config(memory=MemorySettings(enabled=memory, every=200))

    async def main():
        store = MemoryStore()
        session = opened(store, config=config, summarizer=answer, policy=None)

        async def writing(name):
            for number in range(30):
                await session.aappend(
                    {"role": "assistant", "content": f"{name} {number} {FILLER}"}
                )

        async def compacting():
            for _ in range(6):
                await session.acompact(force=True)
                await turns_of_the_loop(10)

        await asyncio.gather(writing("a"), compacting(), writing("b"), writing("c"))
        await session.aclose()
        contents = [message.raw["content"] for message in opened(store).messages[70:]]
        for name in "abc":
            mine = [text for text in contents if text.startswith(name)]
            assert mine == [f"{name} {number} {FILLER}" for number in range(30)]
        assert len(contents) == 90
        assert any(receipt.status == "compacted" for receipt in session.receipts)

    asyncio.run(main())
