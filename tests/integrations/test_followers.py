from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from foldline import BudgetError, StoreError
from foldline.integrations.following import FollowerPool


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


def at_hand(followers: FollowerPool, name: str) -> bool:
    try:
        followers.session(name)
    except StoreError:
        return False
    return True


def test_a_conversation_has_the_same_follower_every_time():
    followers = FollowerPool(window=8_000)
    with followers.following("a") as first, followers.following("b") as other:
        assert first is not other
    with followers.following("a") as again:
        assert again is first
    assert followers.session("a") is first.session
    followers.close()
    assert not at_hand(followers, "a")


def test_beyond_the_limit_the_one_not_used_for_longest_is_let_go():
    followers = FollowerPool(window=8_000, most=2)
    for name in ("a", "b", "a", "c"):
        with followers.following(name) as follower:
            follower.view(said(name))
            last = follower
    assert [at_hand(followers, name) for name in "abc"] == [True, False, True]
    followers.close()
    with pytest.raises(StoreError):
        last.view(said("c"))


def test_one_in_use_is_never_let_go():
    followers = FollowerPool(window=8_000, most=1)
    with followers.following("a") as used:
        with followers.following("b"):
            pass
        with followers.following("c"):
            pass
        assert followers.session("a") is used.session
        assert len(used.view(said("still", "here"))) == 2
    followers.close()


def test_a_conversation_that_was_let_go_is_taken_up_again_from_its_archive(tmp_path):
    followers = FollowerPool(tmp_path / "agent.db", window=8_000, most=1)
    history = said("one", "two")
    with followers.following("a") as follower:
        follower.view(history)
        known = [message.id for message in follower.session.messages]
    with followers.following("b"):
        pass
    with followers.following("a") as follower:
        assert [message.id for message in follower.session.messages] == known
        assert follower.view(history) is history
    followers.close()


def test_with_other_options_it_is_opened_anew():
    followers = FollowerPool()
    with followers.following("a", window=8_000) as follower:
        small = follower.session.budget.scale
    with followers.following("a", window=80_000) as follower:
        assert follower.session.budget.scale > 5 * small
    followers.close()


def test_two_programs_that_await_share_a_follower_and_a_cancelled_one_gives_it_back():
    async def main() -> None:
        followers = FollowerPool(window=8_000, most=1)
        async with followers.afollowing("a") as one, followers.afollowing("a") as same:
            assert one is same
        waiting = asyncio.create_task(_use(followers))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # Given back, it makes room for another one.
        async with asyncio.timeout(10):
            while at_hand(followers, "b"):
                async with followers.afollowing("c"):
                    pass
        followers.close()

    asyncio.run(main())


async def _use(followers: FollowerPool) -> None:
    async with followers.afollowing("b"):
        await asyncio.Event().wait()


def test_many_threads_at_once_get_one_follower_for_each_conversation():
    followers = FollowerPool(window=8_000, most=3)
    found: dict[str, set[int]] = {name: set() for name in "abc"}
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(50):
                with followers.following(name) as follower:
                    found[name].add(id(follower))
        except BaseException as error:  # noqa: BLE001  # to be seen by the test
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,), daemon=True) for name in "abc" * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    followers.close()
    assert failed == []
    assert [len(ids) for ids in found.values()] == [1, 1, 1]


@pytest.mark.parametrize("most", [0, -1, 1.5, True])
def test_a_number_of_conversations_that_makes_no_sense_is_refused(most):
    with pytest.raises(BudgetError, match="At least one"):
        FollowerPool(most=most)
