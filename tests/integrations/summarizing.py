"""A summarizer on the scripted server, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from openai import OpenAI
from tests.integrations import agents

from foldline import Config, Limits, Receipt
from foldline.core.asks import Ask
from foldline.testing import ScriptedServer

LIMITS = Limits(attempts=2)
CONFIG = Config(limits=LIMITS)


@contextmanager
def summarizing(server: ScriptedServer) -> Iterator[Callable[[Ask], str]]:
    """Yield a function that asks the summarizer once for every Ask."""
    with OpenAI(base_url=server.openai_url, api_key="any", max_retries=0) as client:

        def summarize(ask: Ask) -> str:
            answer = client.chat.completions.create(
                model=agents.SUMMARIZER,
                messages=[{"role": "user", "content": f"{ask.system}\n\n{ask.prompt}"}],
                max_tokens=ask.max_tokens,
            )
            return answer.choices[0].message.content or ""

        yield summarize


def check_spending(trouble: agents.Trouble, receipts: Iterable[Receipt]) -> None:
    """Check that no compaction asked more often than it may, and that receipts name every ask."""
    spent = [receipt.spent.attempts for receipt in receipts]
    assert max(spent, default=0) <= LIMITS.attempts
    assert trouble.asked == sum(spent) > 0
