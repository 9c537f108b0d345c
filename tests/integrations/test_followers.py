from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from foldline import BudgetError, StoreError
from foldline.integrations.following import FollowerPool


def user_messages(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text} for text in texts]


def is_open(followers: FollowerPool, name: str) -> bool:
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
    assert not is_open(followers, "a")


def test_beyond_the_limit_the_least_recently_used_follower_is_closed():
    followers = FollowerPool(window=8_000, most=2)
    for name in ("a", "b", "a", "c"):
        with followers.following(name) as follower:
            follower.view(user_messages(name))
            last = follower
    assert [is_open(followers, name) for name in "abc"] == [True, False, True]
    followers.close()
    with pytest.raises(StoreError):
        last.view(user_messages("c"))


def test_a_follower_in_use_is_never_closed():
    followers = FollowerPool(window=8_000, most=1)
    with followers.following("a") as used:
        with followers.following("b"):
            pass
        with followers.following("c"):
            pass
        assert followers.session("a") is used.session
        assert len(used.view(user_messages("still", "here"))) == 2
    followers.close()


def test_a_closed_conversation_is_reopened_from_its_archive(tmp_path):
    followers = FollowerPool(tmp_path / "agent.db", window=8_000, most=1)
    history = user_messages("one", "two")
    with followers.following("a") as follower:
        follower.view(history)
        known = [message.id for message in follower.session.messages]
    with followers.following("b"):
        pass
    with followers.following("a") as follower:
        assert [message.id for message in follower.session.messages] == known
        assert follower.view(history) is history
    followers.close()


def test_changed_options_reopen_the_follower():
    followers = FollowerPool()
    with followers.following("a", window=8_000) as follower:
        small = follower.session.budget.scale
    with followers.following("a", window=80_000) as follower:
        assert follower.session.budget.scale > 5 * small
    followers.close()


def test_async_users_share_a_follower_and_a_cancelled_one_releases_it():
    async def main() -> None:
        followers = FollowerPool(window=8_000, most=1)
        async with followers.afollowing("a") as one, followers.afollowing("a") as same:
            assert one is same
        waiting = asyncio.create_task(_use(followers))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # Once released, it can be replaced by another one.
        async with asyncio.timeout(10):
            while is_open(followers, "b"):
                async with followers.afollowing("c"):
                    pass
        followers.close()

    asyncio.run(main())


async def _use(followers: FollowerPool) -> None:
    async with followers.afollowing("b"):
        await asyncio.Event().wait()


def test_concurrent_threads_get_one_follower_per_conversation():
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
def test_an_invalid_number_of_conversations_is_rejected(most):
    with pytest.raises(BudgetError, match="At least one"):
        FollowerPool(most=most)
