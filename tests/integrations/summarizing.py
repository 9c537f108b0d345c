"""A summarizer on the scripted server, and checks of its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from openai import OpenAI
from tests.integrations import agents

from foldline import Config, Limits, Receipt
from foldline.core.asks import Ask
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, ReceivedRequest
from foldline.testing.scripted.steps import Step

LIMITS = Limits(attempts=2)
CONFIG = Config(limits=LIMITS)


@contextmanager
def summarizing(server: ScriptedServer) -> Iterator[Callable[[Ask], str]]:
    """Yield a function that sends one request to the summarizer for every Ask."""
    with OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:

        def summarize(ask: Ask) -> str:
            answer = client.chat.completions.create(
                model=agents.SUMMARIZER,
                messages=[{"role": "user", "content": f"{ask.system}\n\n{ask.prompt}"}],
                max_tokens=ask.max_tokens,
            )
            return answer.choices[0].message.content or ""

        yield summarize


def is_for_summary(request: ReceivedRequest) -> bool:
    """Return True if a request is for a summary."""
    return "<transcript-" in request.text


def one_model(request: ReceivedRequest) -> Step:
    """Answer as the agent and as the summarizer."""
    return Answer(agents.ACCOUNT) if is_for_summary(request) else agents.model(request)


def check_own_accounts(server: ScriptedServer) -> None:
    """Check that the agent's own model wrote summaries, and that the agent continued with one."""
    asked = [request for request in server.requests if is_for_summary(request)]
    assert asked
    assert {request.model for request in server.requests} == {agents.AGENT}
    assert not any(request.body.get("tools") for request in asked)
    assert any(agents.ACCOUNT in r.text for r in server.requests if not is_for_summary(r))


def check_spending(trouble: agents.Trouble, receipts: Iterable[Receipt]) -> None:
    """Check that no compaction exceeded its requests, and that receipts list every request."""
    spent = [receipt.spent.attempts for receipt in receipts]
    assert max(spent, default=0) <= LIMITS.attempts
    assert trouble.asked == sum(spent) > 0
