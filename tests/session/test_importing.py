"""A long history is imported batch by batch, and every batch is durable by itself."""

import asyncio

import pytest

from foldline import Session
from foldline.errors import InputError, StoreError
from foldline.stores.memory import MemoryStore
from foldline.stores.opening import open_store


def make_message(number):
    role = "user" if number % 2 == 0 else "assistant"
    return {"role": role, "content": f"{number}: some words"}


def opened(store):
    return Session.open(None, "s", store=store, window=200_000, format="openai-chat")


@pytest.mark.parametrize("batch", [1, 7, 100, 1_000])
def test_an_import_equals_appending_every_message(batch):
    one, other = opened(MemoryStore()), opened(MemoryStore())

    assert one.import_messages(map(make_message, range(100)), batch=batch) == 100
    other.extend(map(make_message, range(100)))

    assert [m.id for m in one.messages] == [m.id for m in other.messages]
    assert one.view() == other.view() == [make_message(n) for n in range(100)]
    assert (one.tokens, one.length) == (other.tokens, 100)


def test_an_error_names_the_message_and_leaves_the_batches_before_it():
    store = MemoryStore()
    session = opened(store)
    broken = [*map(make_message, range(25)), {"role": "user", "content": 5}]

    with pytest.raises(InputError, match="message 25, field content") as caught:
        session.import_messages(broken, batch=10)

    assert caught.value.index == 25
    assert session.length == len(store.load("s").messages) == 20
    assert session.import_messages(map(make_message, range(20, 30))) == 10
    assert session.view() == [make_message(n) for n in range(30)]


def test_imported_messages_are_read_on_demand(place):
    store = open_store(place)
    session = opened(store)
    durable = []

    def reading():
        for number in range(30):
            durable.append(len(store.load("s").messages))
            yield make_message(number)

    session.import_messages(reading(), batch=10)

    assert durable == [0] * 10 + [10] * 10 + [20] * 10
    session.close()
    store.close()


def test_two_writers_do_not_lose_each_others_messages():
    store = MemoryStore()
    one, other = opened(store), opened(store)
    other.append(make_message(0))

    with pytest.raises(StoreError, match="another writer"):
        one.import_messages([make_message(1)])

    assert len(store.load("s").messages) == 1


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_batch_has_at_least_one_message(size):
    with pytest.raises(InputError, match="batch"):
        opened(MemoryStore()).import_messages([make_message(0)], batch=size)


def test_the_async_twin_does_the_same():
    async def main():
        async with opened(MemoryStore()) as session:
            return await session.aimport_messages(
                map(make_message, range(30)), batch=9
            ), session.length

    assert asyncio.run(main()) == (30, 30)
