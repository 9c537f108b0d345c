"""The long run: many turns, a failure before every answer, over the SDKs themselves."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.integrations import agents
from tests.integrations.agents import Trouble
from tests.integrations.sdk_loops import SDKS, Sdk, aasker, asker

from foldline import Ask, Config, Limits, Session
from foldline.stores.memory import MemoryStore
from foldline.testing import ScriptedServer

LIMITS = Limits(attempts=1)


def check(trouble: Trouble, server: ScriptedServer, said: list[str], session: Session) -> None:
    agents.check_requests(server.requests)
    agents.check_words(said, agents.words(session.messages))
    assert server.violations == () == server.errors
    assert trouble.larger == []
    assert set(trouble.injected) == set(agents.FAULTS)
    assert (
        sum(r.status == "compacted" and bool(r.edits) for r in session.receipts) > len(said) / 10
    )


@pytest.mark.slow
@pytest.mark.requirement("K38", "H8", "J7")
@pytest.mark.parametrize(
    ("name", "turns"),
    [(name, agents.TURNS if name == "messages" else agents.FEWER) for name in SDKS],
)
def test_a_plain_loop_survives_many_turns_with_failures(name, turns, tmp_path):
    sdk, trouble, asked = SDKS[name], Trouble(), list[Ask]()

    def summarizer(ask: Ask) -> str:
        asked.append(ask)
        if len(asked) % 2:
            raise TimeoutError("The summarizer is not there.")
        return agents.ACCOUNT

    options = sdk.opened(window=agents.WINDOW, summarizer=summarizer, config=Config(limits=LIMITS))
    with (
        ScriptedServer(trouble, window=agents.WINDOW) as server,
        sdk.client(server) as client,
        Session.open(tmp_path / "loop.db", "loop", **options) as session,
    ):
        said = agents.run(asker(sdk, session, sdk.call(client, sdk.tools)), turns)
        receipts = session.receipts
        check(trouble, server, said, session)
    spent = [receipt.spent.attempts for receipt in receipts]
    assert max(spent) <= LIMITS.attempts
    assert len(asked) == sum(spent), "the receipts name every request to the summarizer"
    with Session.open(tmp_path / "loop.db", "loop", **options) as again:
        agents.check_words(said, agents.words(again.messages))


@pytest.mark.slow
@pytest.mark.requirement("K38", "J7")
@pytest.mark.parametrize("name", ["messages"])
def test_an_async_loop_survives_many_turns_with_failures(name, tmp_path):
    sdk, trouble = SDKS[name], Trouble()
    options = sdk.opened(window=agents.WINDOW)

    async def main() -> list[str]:
        async with sdk.aclient(server) as client:
            ask = aasker(sdk, session, sdk.call(client, sdk.tools))
            return await agents.arun(ask, agents.FEWER)

    with (
        ScriptedServer(trouble, window=agents.WINDOW) as server,
        Session.open(tmp_path / "loop.db", "loop", **options) as session,
    ):
        said = asyncio.run(main())
        check(trouble, server, said, session)


@pytest.mark.requirement("J7")
@pytest.mark.parametrize("kind", agents.FAULTS)
@pytest.mark.parametrize("name", SDKS)
def test_every_kind_of_failure_at_every_position_is_survived(name, kind):
    sdk: Sdk = SDKS[name]
    trouble = Trouble([kind])
    options: dict[str, Any] = {"window": agents.WINDOW, "store": MemoryStore()}
    with ScriptedServer(trouble, window=agents.WINDOW) as server, sdk.client(server) as client:
        session = Session.open(None, "loop", **sdk.opened(**options))
        said = agents.run(asker(sdk, session, sdk.call(client, sdk.tools)), turns=16)
    agents.check_requests(server.requests)
    agents.check_words(said, agents.words(session.messages))
    assert server.violations == ()
    assert trouble.larger == []
    assert trouble.injected.total() >= 30
    assert trouble.injected[kind]
